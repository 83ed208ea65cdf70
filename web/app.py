"""The script that Streamlit runs for every look at the page."""

# Streamlit runs a file and no module, so it has to be said whose imports these are (PEP 366).
__package__ = "raidsim.web"

if __name__ == "__main__":
    from .views.shell import show

    show()
