import { hex } from "@scure/base";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord, messageOf } from "../../core/guards.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { openLedger, type SessionToRecord } from "../../ledger/mod.ts";
import {
  type SandboxOrder,
  type ServedSandbox,
  serveSandbox,
} from "../../sandbox/mod.ts";
import { watchHealth } from "../../server/alarms/alarm_sender.ts";
import { composeService } from "../../server/compose/compose_service.ts";
import {
  Forwarder,
  forwardMeters,
  ForwardReport,
} from "../../server/forwarding/forwarder.ts";
import {
  pinnedFetch,
  type PostOptions,
  targetName,
} from "../../server/forwarding/post_webhook.ts";
import type { Forwarding } from "../../server/forwarding/read_targets.ts";
import { webhookSigner } from "../../server/forwarding/transition_message.ts";
import { listening } from "../../server/http/listening.ts";
import { holdLedger } from "../../server/ledger_file/ledger_lock.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import { serviceMetrics } from "../../server/monitoring/metrics.ts";
import { readConfig } from "../../core/settings/config.ts";
import { aborted } from "../../core/settings/values.ts";
import type { AnsweredRequest } from "../../webhooks/mod.ts";
import {
  type Activity,
  forwardedActivity,
  transitionActivity,
} from "./activity_printer.ts";

/** Options of {@linkcode runListen}. */
export interface ListenOptions {
  /** Port of the sandbox, 0 for a free one. */
  readonly port: number;
  /** Port of the endpoint, 0 for a free one. */
  readonly endpointPort: number;
  /** Seed of the sandbox. */
  readonly seed: number;
  /** File of the ledger; null for one that goes with the process. */
  readonly ledgerFile: string | null;
  /** Where transitions are sent, if anywhere. */
  readonly forwarding: Forwarding | undefined;
  /** Takes the log. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Called once with the addresses, when everything runs. */
  readonly onListening: (places: ListenPlaces) => void;
  /** Called with each request that the endpoint answered. */
  readonly onAnswer: (answered: AnsweredRequest) => void;
  /** Called with each other thing that happens. */
  readonly onActivity: (activity: Activity) => void;
}

/** Where everything is that `listen` runs: its first line. */
export interface ListenPlaces {
  /** Distinguishes this line from those that follow. */
  readonly kind: "listening";
  /** The sandbox. */
  readonly sandbox: string;
  /** Its page. */
  readonly control: string;
  /** Key that the sandbox asks for; it protects nothing. */
  readonly apiKey: string;
  /** Partner id that its widget asks for. */
  readonly partnerId: string;
  /** Where it sends webhooks, secret included: it is made anew each time. */
  readonly webhooks: string;
  /** The ledger. */
  readonly ledger: string;
  /** Where transitions are sent. */
  readonly forwardTo: readonly string[];
}

/** Requests a second: the sandbox is on the same machine. */
const RATE = 50;

/** A developer's receiver is often down, and soon up again, in ms. */
const RETRY_MS = { first: 1000, longest: 30_000 };

/**
 * The service in a box, the endpoint, the ledger, the poller and forwarding in
 * this process, until the signal is aborted. No setting of the environment
 * counts, so that none of it can lead to a real ledger or the real service.
 */
export async function runListen(options: ListenOptions): Promise<void> {
  const { log, now, signal, onActivity, forwarding } = options;
  await using folder = await ledgerFolder(options.ledgerFile);
  const created: SandboxOrder[] = [];
  let expect = (order: SandboxOrder) => void created.push(order);
  await using served = await listening(
    "the sandbox",
    options.port,
    () =>
      serveSandbox({
        port: options.port,
        seed: options.seed,
        onOrder: (order) => expect(order),
      }),
  );
  const secret = hex.encode(crypto.getRandomValues(new Uint8Array(16)));
  const config = configOf(folder.url, secret, served);
  using held = await holdLedger(config);
  await using ledger = await openLedger({
    url: folder.url,
    environment: "sandbox",
    now,
  });
  held.announce();
  expect = (order) => {
    ledger.recordSession(expectationOf(order)).catch((error) => {
      log("error", "append_failing", { message: messageOf(error) });
    });
  };
  created.forEach(expect);
  const metrics = serviceMetrics({ time: now });
  await using service = composeService({
    config,
    secrets: [secret],
    ledger,
    log,
    metrics,
    now,
    longLived: true,
    requestsPerSecond: RATE,
    polling: { confirmAtLeastMs: 500, followEveryMs: 2000 },
    onAnswer: options.onAnswer,
  });
  await using server = await listening(
    "the endpoint",
    options.endpointPort,
    () =>
      openHttpServer({
        port: options.endpointPort,
        hostname: "127.0.0.1",
        handler: service.endpoint,
      }),
  );
  await ledger.subscribe(
    "listen",
    { on: "*", idleMs: 200 },
    (transition, { state }) =>
      onActivity(transitionActivity(transition, state, now())),
  );
  const post = { fetch: observedFetch({ onActivity, now }) };
  const meters = forwardMeters(metrics.meter);
  const { targets = [], secrets = [] } = forwarding ?? {};
  const sign = webhookSigner(secrets);
  const senders = targets.map((target) => {
    const report = new ForwardReport({
      ...{ target: targetName(target.url), name: target.name },
      ...{ meters, log, now },
    });
    const parts = { ledger, target, sign, report, now, post };
    return new Forwarder({
      ...parts,
      maxAttempts: 1000,
      retryDelayMs: (attempt) =>
        Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** (attempt - 1)),
    }).run(signal);
  });
  const alarms = watchHealth({
    ...{ ledger, config, log, metrics, now, own: service.health },
    alarms: {
      targets: targets.map(({ name, url }) => ({
        ...{ name, url, write: sign },
        shown: targetName(url),
      })),
      post,
    },
  }).run(signal);
  const polling = service.poller?.run(signal);
  const webhooks = `http://127.0.0.1:${server.port}/webhooks/${secret}`;
  served.sandbox.setWebhookUrl(webhooks);
  options.onListening({
    kind: "listening",
    sandbox: served.url,
    control: `${served.url}/control`,
    apiKey: served.sandbox.apiKey,
    partnerId: served.sandbox.partnerId,
    webhooks,
    ledger: folder.url,
    forwardTo: targets.map(({ url }) => targetName(url)),
  });
  await aborted(signal);
  await Promise.all([...senders, alarms, polling]);
}

/**
 * What a shop would have recorded before the order: its own basket, with the
 * amount that it costs.
 */
function expectationOf(
  { orderId, sessionId, clickId, currency, currencyAmount }: SandboxOrder,
): SessionToRecord {
  return {
    session_id: sessionId ?? orderId,
    click_id: clickId,
    reference: `basket-${orderId.slice(-6).toLowerCase()}`,
    currency,
    currency_amount: currencyAmount,
  };
}

/** What `serve` would be configured with to work with the sandbox. */
function configOf(databaseUrl: string, secret: string, served: ServedSandbox) {
  return readConfig(() => undefined, {
    environment: "sandbox",
    apiKey: served.sandbox.apiKey,
    webhookSecrets: secret,
    databaseUrl,
    baseUrl: served.url,
  });
}

/**
 * Where the ledger is: in a named file, or in a folder of its own that is
 * removed at the end.
 */
async function ledgerFolder(
  file: string | null,
): Promise<{ readonly url: string } & AsyncDisposable> {
  if (file !== null) {
    return {
      url: `file:${file}`,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const folder = await mkdtemp(join(tmpdir(), "rampkit-listen-"));
  return {
    url: `file:${folder}/ledger.db`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

type Fetch = NonNullable<PostOptions["fetch"]>;

/** What sent webhooks are observed with. */
export interface ObservedOptions {
  /** Called with each attempt. */
  readonly onActivity: (activity: Activity) => void;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Sends a request. @default pinnedFetch */
  readonly fetch?: Fetch;
}

/** Sends requests with webhooks, and reports how each ended. */
function observedFetch(options: ObservedOptions): Fetch {
  const { onActivity, now, fetch: send = pinnedFetch } = options;
  return async (url, init, route) => {
    const begunMs = now();
    const tell = (answer: number | null, detail: string | null) =>
      onActivity(forwardedActivity({
        ...contentOf(init.body),
        answer,
        tookMs: Math.max(0, Math.round(now() - begunMs)),
        target: targetName(new URL(url)),
        detail,
      }, now()));
    try {
      const response = await send(url, init, route);
      tell(response.status, null);
      return response;
    } catch (error) {
      tell(null, "no answer");
      throw error;
    }
  };
}

/** What a webhook is about: the body is one of ours. */
function contentOf(body: string): Partial<Activity> {
  const message: unknown = JSON.parse(body);
  const { type, data } = isRecord(message) ? message : {};
  const { entity, id, state } = isRecord(data) ? data : {};
  const facts = isRecord(state) ? state : {};
  const text = (value: unknown) => typeof value === "string" ? value : null;
  return {
    type: String(type),
    entity: entity === "order" || entity === "user" ? entity : null,
    id: text(id),
    currencyAmount: text(facts.currencyAmount),
    currency: text(facts.currency),
    cryptoAmount: text(facts.cryptoAmount),
    commodity: text(facts.commodity),
  };
}
