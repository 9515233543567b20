"""Learners that train all columns of a codebook together, and score them together."""

from ecoc.multiclass.joint.base import JointLearner, about_column, joint_learner
from ecoc.multiclass.joint.kernel_ridge import KernelRidgeColumns, loo_scores

__all__ = [
    "JointLearner",
    "KernelRidgeColumns",
    "about_column",
    "joint_learner",
    "loo_scores",
]
