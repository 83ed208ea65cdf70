"""How the page looks: colors for light and dark, the logo, and the CSS that Streamlit has no option for."""

from __future__ import annotations

TEAL, BLUE, ORANGE, GREEN, PURPLE, GREY = "#0f7490", "#2b7bba", "#d2691e", "#3a8f5c", "#7d5ba6", "#8794a1"
"""Colours of pictures: blue reads and data, orange writes and parity, green copies, purple second parity, grey the
rest. All are told apart in grey and by people who do not see colours, and stand out on white and on black."""

_LIGHT = {
    "primaryColor": TEAL,
    "backgroundColor": "#ffffff",
    "secondaryBackgroundColor": "#eef3f6",
    "textColor": "#050b10",
    "linkColor": "#0b6179",
    "borderColor": "#c9d5dd",
    "sidebar.backgroundColor": "#f5f8fa",
    "sidebar.secondaryBackgroundColor": "#ffffff",
}
_DARK = {
    "primaryColor": "#5cbcd6",
    "backgroundColor": "#0e1820",
    "secondaryBackgroundColor": "#1a2833",
    "textColor": "#e8eef2",
    "linkColor": "#6cc6df",
    "borderColor": "#34495a",
    "sidebar.backgroundColor": "#12202a",
    "sidebar.secondaryBackgroundColor": "#0e1820",
}


def theme_options() -> dict[str, object]:
    """Streamlit's options for the theme; the browser chooses light or dark."""
    options: dict[str, object] = {
        "theme.baseRadius": "0.4rem",
        "theme.paddingTop": "2.2rem",
        "theme.paddingBottom": "3rem",
        "theme.metricValueFontSize": "1.7rem",
        "theme.headingFontSizes": ["1.75rem", "1.2rem", "1.1rem"],
        "theme.showSidebarBorder": True,
        "theme.showWidgetBorder": True,
    }
    for name, values in (("light", _LIGHT), ("dark", _DARK)):
        options |= {f"theme.{name}.{key}": value for key, value in values.items()}
    return options


_DISKS = "".join(
    f'<rect x="{2 + 9 * disk}" y="{3 + 8 * row}" width="7" height="6" rx="1.2" '
    f'fill="{ORANGE if disk + row == 2 else TEAL}"/>'
    for disk in range(3)
    for row in range(3)
)
ICON = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 29 29">{_DISKS}</svg>'
"""A RAID 5 of three disks: parity goes round."""
LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 124 29" width="124" height="29">'
    "<style>text{fill:#16222c}@media(prefers-color-scheme:dark){text{fill:#e8eef2}}</style>"
    f'{_DISKS}<text x="37" y="22" font-family="system-ui,sans-serif" font-weight="700" font-size="21">raidsim</text>'
    "</svg>"
)

STYLE = """<style>
.st-key-pages{overflow-x:auto;border-bottom:1px solid rgba(128,128,128,.35);padding-bottom:.25rem}
.st-key-pages>div{flex:none}
.st-key-pages [data-testid=stPageLink] p{white-space:nowrap;overflow:visible}
.st-key-figures>div,.st-key-trace_figures>div{flex:1 1 8.5rem;min-width:8.5rem}
[data-testid=stMetric]{padding:.55rem .8rem}
[data-testid=stMetricLabel] p{white-space:normal}
[data-testid=stExpandSidebarButton]{width:auto!important}
[data-testid=stExpandSidebarButton]::after{content:"Change the design";font-size:.9rem;padding:0 .4rem}
.st-key-live_figures>div{flex:1 1 22%;min-width:8.5rem}
.st-key-live [data-stale]{opacity:1!important}
body:has(.st-key-live) [data-testid=stStatusWidget]{display:none}
@media(max-width:600px){
[data-testid=stMetricValue]{font-size:1.35rem}
.st-key-figures{gap:.5rem}
h1{font-size:1.4rem!important}
}
@media(prefers-color-scheme:dark){[data-testid=stMultiSelect] span[title],
[data-testid=stBaseButton-primary] p{color:#050b10!important}}
@media print{[data-testid=stSidebar],[data-testid=stHeader],.st-key-pages{display:none!important}}
</style>"""
