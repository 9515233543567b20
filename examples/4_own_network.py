"""
A network of one's own
======================

Any network with an output for each column, any training loop: :class:`ecoc.nn.CodeLoss` trains it,
and :class:`ecoc.nn.CodeDecoder` makes class scores of its outputs, with gradients.
"""

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits
from torch import nn

from ecoc import design_codebook
from ecoc.nn import CodeDecoder, CodeLoss
from ecoc.robustness import evaluate_robustness

torch.manual_seed(0)
torch.set_num_threads(1)

X, y = load_digits(return_X_y=True)
X = torch.tensor(X / 16, dtype=torch.float32)
y = torch.tensor(y)
X_train, y_train, X_test, y_test = X[:1200], y[:1200], X[1200:], y[1200:]

codebook = design_codebook(10, 20, random_state=0).codebook

# %%
# The loop is the usual one, with a logistic loss for each column.

net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 20))
optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
loss_of = CodeLoss(codebook)
losses = []
for _ in range(20):
    for batch in torch.randperm(len(X_train)).split(64):
        loss = loss_of(net(X_train[batch]), y_train[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    losses.append(loss.item())

# %%
# Network and decoder together are an ordinary classifier.

model = nn.Sequential(net, CodeDecoder(codebook))
accuracy = (model(X_test).argmax(dim=1) == y_test).float().mean()
print(f"accuracy: {accuracy:.2f}")

# %%
# It can be attacked as such. An accuracy under attack is what the attacks leave; a better attack
# could leave less.

result = evaluate_robustness(
    model, X_test[:40], y_test[:40], epsilons=[0.05, 0.1, 0.15], steps=10, random_state=0
)
print(result)

# %%
# The evaluation finds the columns in the network and pushes on their outputs as well, where
# gradients do not vanish. The strong battery leaves a little less than the paper's attack alone.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(losses)
left.set(xlabel="epoch", ylabel="loss of the last batch", title="training")
result.plot(right)
