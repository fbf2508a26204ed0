"""Labels for whole data sets, and a report of what is doubtful in them."""

from .dataset import label_dataset
from .report import write_report

__all__ = ["label_dataset", "write_report"]
