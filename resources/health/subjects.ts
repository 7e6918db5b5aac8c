/** The parts of the console's health bar, in their order. */
export const HEALTH_PARTS = [
  "Webhooks",
  "Polling",
  "Ledger",
  "Backlog",
  "Forwarding",
  "Comparison",
] as const;

/** A part of the console's health bar. */
export type HealthPartName = (typeof HEALTH_PARTS)[number];

/** What is checked. */
interface LookedAt {
  /** Its name in `doctor`. */
  readonly name: string;
  /** Part of the console that shows it; null when none does. */
  readonly part: HealthPartName | null;
  /** Whether each machine has its own. */
  readonly isLocal?: true;
  /** Whether only `doctor` looks at it, so that it is never an alarm. */
  readonly byDoctorAlone?: true;
}

const TABLE = {
  api_key: { name: "API key", part: null, byDoctorAlone: true },
  webhook_secret: { name: "Webhook secret", part: null, byDoctorAlone: true },
  serve: { name: "Serve", part: "Ledger", isLocal: true },
  spool: { name: "Spool", part: "Ledger", isLocal: true },
  waiting: { name: "Waiting", part: "Ledger" },
  place: { name: "Ledger", part: null, byDoctorAlone: true },
  storing: { name: "Ledger", part: "Ledger", isLocal: true },
  disk: { name: "Disk", part: "Ledger", isLocal: true },
  database: { name: "Database", part: null, byDoctorAlone: true },
  projection: { name: "Projection", part: "Ledger" },
  evidence: { name: "Evidence", part: "Ledger" },
  assets: { name: "Assets", part: null, byDoctorAlone: true },
  delivery: { name: "Delivery", part: "Webhooks" },
  freshness: { name: "Freshness", part: null },
  refusals: { name: "Refused", part: "Webhooks" },
  endpoint: { name: "Endpoint", part: null, byDoctorAlone: true },
  polling: { name: "Polling", part: "Polling" },
  backlog: { name: "Backlog", part: "Backlog" },
  refused_ids: { name: "Refused ids", part: "Backlog" },
  drift: { name: "Drift", part: "Comparison" },
  orders: { name: "Orders", part: null },
  comparison: { name: "Comparison", part: "Comparison" },
  nodes: { name: "Chain nodes", part: "Comparison" },
  forwarding: { name: "Forwarding", part: "Forwarding" },
  backups: { name: "Backups", part: "Ledger", isLocal: true },
  service: { name: "Service", part: null, byDoctorAlone: true },
  clock: { name: "Clock", part: null, byDoctorAlone: true },
} as const satisfies Readonly<Record<string, LookedAt>>;

/** Code of what is checked. */
export type Subject = keyof typeof TABLE;

/** Everything that is checked, in the order in which it is shown. */
export const SUBJECTS: Readonly<Record<Subject, LookedAt>> = TABLE;
