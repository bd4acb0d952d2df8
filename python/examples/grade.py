"""Compares, reads and grades answers without a model."""

from hyper_decode import equal, extract, grade

print(equal(r"\frac{\sqrt{8}}{2}", r"\sqrt{2}"))
print(equal("33.3", r"\frac{100}{3}"))
print(extract("So the sum is 19. The answer is \\boxed{95}."))
print(grade("95", "I think that it is 96."))
