/** One plot: what it shows, its unit, and the queries with their legends. */
interface Plot {
  readonly title: string;
  readonly unit: string;
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** How it is drawn. @default "timeseries" */
  readonly as?: "timeseries" | "table";
}

const rate = (name: string) => `rate(${name}[$__rate_interval])`;

const quantile = (share: string, name: string) =>
  `histogram_quantile(${share}, sum by (le) (${rate(`${name}_bucket`)}))`;

/** What is plotted, row by row. */
const ROWS: readonly (readonly [title: string, plots: readonly Plot[]])[] = [
  ["What is wrong", [
    {
      title: "Conditions that stand",
      unit: "short",
      as: "table",
      queries: [[
        "max by (code, subject) (rampkit_condition) == 1",
        "{{code}}",
      ]],
    },
    {
      title: "Not described by the service's documents",
      unit: "short",
      as: "table",
      queries: [["max by (name) (rampkit_drift) > 0", "{{name}}"]],
    },
  ]],
  ["Webhooks", [
    {
      title: "Deliveries by answer",
      unit: "reqps",
      queries: [[
        `sum by (answer) (${rate("rampkit_webhook_deliveries_total")})`,
        "{{answer}}",
      ]],
    },
    {
      title: "Bodies by type",
      unit: "reqps",
      queries: [[
        `sum by (type) (${rate("rampkit_webhook_bodies_total")})`,
        "{{type}}",
      ]],
    },
    {
      title: "Time to answer",
      unit: "s",
      queries: [
        [quantile("0.5", "rampkit_webhook_answer_duration_seconds"), "median"],
        [quantile("0.99", "rampkit_webhook_answer_duration_seconds"), "99 %"],
      ],
    },
    {
      title: "Until the service switches delivery off",
      unit: "s",
      queries: [[
        "min by (reading) (rampkit_delivery_off_in_seconds)",
        "{{reading}}",
      ]],
    },
  ]],
  ["Ledger", [
    {
      title: "Events not folded",
      unit: "short",
      queries: [["max(rampkit_ledger_lag)", "events"]],
    },
    {
      title: "Time to commit",
      unit: "s",
      queries: [
        [quantile("0.5", "rampkit_ledger_commit_duration_seconds"), "median"],
        [quantile("0.99", "rampkit_ledger_commit_duration_seconds"), "99 %"],
      ],
    },
    {
      title: "Age of the newest backup",
      unit: "s",
      queries: [["max(rampkit_backup_age_seconds)", "age"]],
    },
  ]],
  ["Polling", [
    {
      title: "Since a sweep last made a step",
      unit: "s",
      queries: [["min(rampkit_poll_success_age_seconds)", "age"]],
    },
    {
      title: "Waiting to be confirmed",
      unit: "short",
      queries: [["max by (known) (rampkit_poll_backlog)", "known {{known}}"]],
    },
    {
      title: "Ids that the service refuses",
      unit: "short",
      queries: [["max(rampkit_poll_isolated_ids)", "ids"]],
    },
  ]],
  ["Orders", [
    {
      title: "Orders by status",
      unit: "short",
      queries: [["max by (status) (rampkit_orders)", "{{status}}"]],
    },
    {
      title: "Oldest open order",
      unit: "s",
      queries: [[
        "max by (status) (rampkit_orders_open_age_seconds)",
        "{{status}}",
      ]],
    },
    {
      title: "Anomalies",
      unit: "short",
      queries: [["max by (kind) (rampkit_orders_anomalies)", "{{kind}}"]],
    },
  ]],
];

const WIDTH = 24;
const HEIGHT = 8;

/**
 * A dashboard of Grafana, which asks for its data source when it is imported.
 *
 * @returns JSON.
 */
export function grafanaDashboard(): string {
  const panels: unknown[] = [];
  let y = 0;
  for (const [title, plots] of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      gridPos: { h: 1, w: WIDTH, x: 0, y },
      panels: [],
    });
    y += 1;
    const w = Math.floor(WIDTH / plots.length);
    for (const [at, plot] of plots.entries()) {
      panels.push(
        panel(plot, panels.length + 1, { h: HEIGHT, w, x: at * w, y }),
      );
    }
    y += HEIGHT;
  }
  const dashboard = {
    __inputs: [{
      name: "DS_PROMETHEUS",
      label: "Prometheus",
      type: "datasource",
      pluginId: "prometheus",
      pluginName: "Prometheus",
    }],
    uid: "rampkit",
    title: "Rampkit",
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    timezone: "utc",
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

const SOURCE = { type: "prometheus", uid: "${DS_PROMETHEUS}" };

function panel(
  { title, unit, queries, as = "timeseries" }: Plot,
  id: number,
  gridPos: Readonly<Record<string, number>>,
) {
  return {
    id,
    type: as,
    title,
    gridPos,
    datasource: SOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: {},
    targets: queries.map(([expr, legendFormat], at) => ({
      refId: String.fromCharCode(65 + at),
      datasource: SOURCE,
      expr,
      legendFormat,
      ...as === "table" && { format: "table", instant: true },
    })),
  };
}
