/** Draws the plots of the delivery page from figures that it asks for. */
export const PLOTS_SCRIPT = `
import uPlot from "./uplot.js";

const colour = (name) => {
  const probe = document.createElement("span");
  probe.className = "probe " + name;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

const LINES = ["brand", "bad", "warn", "good", "soft", "ink"];

const hour = (seconds) => {
  const iso = new Date(seconds * 1000).toISOString();
  return iso.slice(11, 16) === "00:00" ? iso.slice(5, 10) : iso.slice(11, 16);
};

const alone = (values) => values.flatMap((value, at) =>
  value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null ? [at] : []);

const draw = (box, { times, marks }, { series, unit }) => {
  const soft = colour("soft");
  const line = colour("line");
  const axis = { stroke: soft, grid: { stroke: line }, ticks: { stroke: line } };
  const plot = new uPlot({
    width: box.clientWidth,
    height: 220,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    cursor: { drag: { x: true, y: false } },
    scales: { y: { range: (_, min, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [{ ...axis, values: (_, all) => all.map(hour) }, { ...axis, size: 64, values: (_, all) => all.map((value) => value + unit) }],
    series: [
      { label: "Time (UTC)", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" },
      ...series.map(({ label, values }, at) => ({
        label,
        stroke: colour(LINES[at % LINES.length]),
        width: 2,
        dash: at > 3 ? [6, 4] : undefined,
        spanGaps: false,
        // A value between two gaps is no line: it alone is drawn as a point.
        points: { show: false, filter: () => alone(values), size: 6, fill: colour(LINES[at % LINES.length]) },
        value: (_, value) => value === null ? "-" : value + unit,
      })),
    ],
    hooks: {
      draw: [({ ctx, bbox, valToPos }) => {
        for (const { at } of marks) {
          const x = valToPos(at, "x", true);
          if (x < bbox.left || x > bbox.left + bbox.width) continue;
          ctx.save();
          ctx.strokeStyle = colour("bad");
          ctx.setLineDash([4, 4]);
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
          ctx.restore();
        }
      }],
    },
  }, [times, ...series.map(({ values }) => values)], box);
  new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 220 }))
    .observe(box);
};

const plots = document.getElementById("plots");
try {
  const answer = await fetch("/delivery/figures?range=" + plots.dataset.range);
  if (!answer.ok) throw new Error("HTTP " + answer.status);
  const figures = await answer.json();
  for (const box of plots.querySelectorAll("[data-plot]")) {
    box.replaceChildren();
    const plot = figures.plots[box.dataset.plot];
    if (plot.series.every(({ values }) => values.every((one) => one === null))) {
      box.classList.add("empty");
      box.textContent = "Nothing was recorded in this time.";
    } else draw(box, figures, plot);
  }
  plots.dataset.drawn = "yes";
} catch (error) {
  plots.prepend(Object.assign(document.createElement("p"), {
    className: "notice",
    textContent: "The figures could not be drawn: " + error.message,
  }));
}
`;
