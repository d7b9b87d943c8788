"""The report of a study: one HTML file, in a version for the agency and one for people outside it."""

from confide.show.report.page import report_charts, save_report_folder, write_report

__all__ = ["report_charts", "save_report_folder", "write_report"]
