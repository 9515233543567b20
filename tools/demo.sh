#!/bin/sh
# The main job end to end, on embedded defaults. Usage: demo.sh ECOC FOLDER
set -eu
ecoc=$1
folder=$2

run() {
    printf '\n$ ecoc %s\n' "$*"
    "$ecoc" "$@"
}

run make dense-random -k 10 -l 20 --seed 0 -o "$folder/random.json"
run show "$folder/random.json"
run verify "$folder/random.json" -q
run show "$folder/random.json" --format html -o "$folder/random.html"
printf '\nOpen %s/random.html in a browser to see the codebook.\n' "$folder"
