#!/bin/sh
# The main job end to end, on embedded defaults. Usage: demo.sh ECOC FOLDER
set -eu
ecoc=$1
folder=$2

run() {
    printf '\n$ ecoc %s\n' "$*"
    "$ecoc" "$@"
}

printf 'A random codebook, the best of 10,000:\n'
run make dense-random -k 10 -l 20 --seed 0 -o "$folder/random.json" -q
run verify "$folder/random.json" -q

printf '\nThe best codebook there is, with columns at least 3 apart:\n'
run design -k 10 -l 20 --min-column-distance 3 -o "$folder/design.json" -q
run verify "$folder/design.json" -q
run show "$folder/design.json" --format html -o "$folder/design.html" -q

printf '\nDecision trees on handwritten digits, with that codebook and with the usual ones:\n'
run data digits -o "$folder/digits.csv" -q
run fit "$folder/digits.csv" --target class --learner tree --codebook "$folder/design.json" \
    -o "$folder/model.skops" --report "$folder/fit.html" -q
run predict "$folder/model.skops" "$folder/digits.csv" --margin -o "$folder/predictions.csv" -q

printf '\nA table and a figure of the paper, measured again (for all: ecoc reproduce all):\n'
rm -rf "$folder/results"
run reproduce table2 figure-codebooks --quick -o "$folder/results" -q
run report "$folder/results" -o "$folder/report.html" -q
printf '\nOpen %s/report.html, %s/fit.html and %s/design.html in a browser.\n' \
    "$folder" "$folder" "$folder"
