const figures = JSON.parse(document.getElementById("figures").textContent);
const charts = figures.map((figure, number) => [document.getElementById("chart-" + number), figure]);
function colours() {
  const style = getComputedStyle(document.documentElement);
  const [text, line, card] = ["--text", "--line", "--card"].map((name) => style.getPropertyValue(name));
  return {
    "font.color": text, "xaxis.gridcolor": line, "xaxis.zerolinecolor": line,
    "hoverlabel.bgcolor": card, "hoverlabel.bordercolor": line, "hoverlabel.font.color": text
  };
}
const settings = { responsive: true, displayModeBar: false };
for (const [place, figure] of charts) {
  Plotly.newPlot(place, figure.data, figure.layout, settings)
    .then(() => Plotly.relayout(place, colours()));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [place] of charts) Plotly.relayout(place, colours());
});
