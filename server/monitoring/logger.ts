import { printableJson } from "../../core/text.ts";
import type { WebhookLogCode } from "../../webhooks/endpoint_log.ts";

/** How much a line of the log matters. */
export type Level = "info" | "warn" | "error";

/** Writes one line of the structured log. Fields never hold secrets. */
export type Log = (
  level: Level,
  event: LogEvent,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/**
 * A structured log: one JSON object a line, with `time`, `level` and `event`.
 */
export function jsonLog(write: (text: string) => void, now: () => number): Log {
  return (level, event, fields) =>
    write(
      `${
        printableJson({
          time: new Date(now()).toISOString(),
          level,
          event,
          ...fields,
        })
      }\n`,
    );
}

/** Codes of the endpoint that are logged; refused bodies are counted. */
export type LoggedCode = Exclude<WebhookLogCode, "body_refused">;

/** Whether a code of the endpoint is logged. */
export function isLogged(code: WebhookLogCode): code is LoggedCode {
  return code !== "body_refused";
}

/**
 * Every event that the log of `serve` and of the Deploy entry can hold, each
 * with its meaning. docs/reference/health.md lists them.
 */
export const LOG_EVENTS = {
  // The process.
  listening: "The endpoint takes requests",
  stopping: "The process is stopping",
  stopped: "Requests under way are answered, what is stored is folded",
  not_ready: "The ledger could not be opened",
  ready: "The ledger could be opened after all",
  no_api_key: "Nothing is polled, because there is no API key",
  weak_secret: "A webhook secret is short enough to be guessed",
  // Deliveries.
  quarantined: "A stored body is not a JSON object",
  unrecognised: "A stored object is not one of the documented events",
  identifier_too_long: "An identifier of a stored event is too long for one",
  requests_refused: "Requests were refused: how many, by reason",
  refusals_not_kept: "Refused requests could not be stored for `doctor`",
  delivery_refused: "A delivery could not be stored, and was answered 503",
  delivery_unanswered: "A stored delivery was answered late or with 503",
  append_failing: "The ledger does not take deliveries",
  witness_failed:
    "Recording what the chain shows failed in the ledger, and is retried",
  append_recovered: "The ledger takes deliveries again",
  ledger_replaced: "The ledger's file was removed or replaced; restart needed",
  spool_failed: "The spool could not take a delivery",
  spool_recovered: "The spool takes deliveries again",
  spool_damaged: "A spool file is damaged, and was set aside",
  spool_untidied: "A spool file cannot be taken over or cleared",
  spool_nearly_full: "The spool takes only bodies of at most 8 KiB",
  spool_has_room: "The spool takes bodies of every size again",
  large_bodies_refused: "Bodies above 64 KiB have used up their share",
  large_bodies_taken: "No body above 64 KiB was refused for a minute",
  spool_drained: "Spooled deliveries went into the ledger",
  idle_connections_closed: "Too many were open: idle ones were closed",
  listening_publicly: "Other machines reach this port without a proxy's limits",
  base_url_loopback: "Production is read from an address of this machine",
  // The watchdog.
  delivery_suspected: "Orders move at the service and no webhook comes",
  delivery_failing: "Deliveries arrive and are not answered in time",
  delivery_recovered: "Webhook delivery works again",
  // The poller.
  poll_failing: "Sweeps fail: what webhooks claim is not confirmed",
  poll_recovered: "Every sweep works again",
  // The projection.
  projection_failing: "Stored events are not folded",
  projection_recovered: "Stored events are folded again",
  history_withheld:
    "How many orders and users are from before going live, and are not sent",
  // Orders.
  order_waits: "An order waits for a person",
  order_waits_no_more: "An order that waited for a person is settled",
  // Forwarding.
  forwarding: "This process sends transitions to a target",
  forward_failing: "A target rejects deliveries; they are retried",
  forward_recovered: "A target takes transitions again",
  forward_dead:
    "A transition failed permanently after attempts over three days",
  forward_off: "A target answered 410: nothing is sent until it is resumed",
  // Handlers of a program.
  handler_failing:
    "A handler fails: its calls are retried at growing intervals",
  handler_recovered: "The handler works again",
  handler_dead:
    "A transition failed permanently after all attempts of its handler",
  session_failed: "A page that asked for a session got none",
  // The HTTP API.
  api_listening: "The HTTP API takes requests",
  api_failing: "Requests to the HTTP API fail because of errors on this side",
  api_recovered: "The HTTP API answers again",
  operated: "Somebody operated the service by HTTP API or console",
  // Alarms.
  alarm_raised: "Something is wrong: `code` says what, `advice` what to do",
  alarm_cleared: "It is over",
  alarm_not_sent: "A target did not accept an alarm; it is sent again later",
  alarm_sent: "The target accepts alarms again",
  // Backups.
  backup_made: "A backup was made and verified",
  backup_failing: "No backup can be made, or its copy does not verify",
  backup_recovered: "A backup was made again",
  // The console.
  console_listening: "The console can be opened",
  console_refused: "Somebody tried to sign in with an unknown token",
  console_failed: "A page of the console could not be made",
  // The evidence chain.
  chain_head: "How far the evidence chain reaches, hourly: keep a copy",
  chain_broken: "The chain does not contain its anchored head",
} as const;
// Stated apart: the types of a package are made of declarations alone.
LOG_EVENTS satisfies Readonly<Record<LoggedCode, string>>;

/** An event of the log, as a word. */
export type LogEvent = keyof typeof LOG_EVENTS;

/**
 * What to do about an event of the log, where no condition of its name says it
 * and something is to be done.
 */
export const LOG_ADVICE: Readonly<Partial<Record<LogEvent, string>>> = {
  not_ready: "The message says why, and `effect` what becomes of deliveries. " +
    "Where the database's server does not answer they are kept beside it and " +
    "get 204; without a disk, and on Deno Deploy, they get 503, and the " +
    "service sends them again. Check `RAMPKIT_DATABASE_URL`, " +
    "`RAMPKIT_DATABASE_TOKEN` and the provider: a wrong address looks like a " +
    "server that is down. It is tried again every 15 seconds at the latest. " +
    "What no waiting mends, such as a token that is refused, ends `serve`",
  no_api_key: "Deliveries are kept, and nothing is confirmed: set " +
    "`RAMPKIT_API_KEY`, or say `--no-poll` where another process polls",
  weak_secret:
    "Set another one beside it, as of `openssl rand -hex 24`, change " +
    "the address in the dashboard, and remove the old one a day later",
  quarantined: "It was stored and answered 204. `rampkit deliveries list " +
    "--quarantined` lists such bodies, `deliveries show ID` says why. The " +
    "service sends none: look for a proxy that changes bodies, or a stranger " +
    "who knows the address",
  unrecognised:
    "It was stored and answered 204. `rampkit deliveries show ID` " +
    "says why. A `type` of its own is a new kind of event: it changes no " +
    "state, and a newer version may know it. One with a documented `type` " +
    "lacks a field; the poller reads the order all the same",
  identifier_too_long: "It is read as if it were not there. `rampkit " +
    "deliveries show ID` names the field. Where it is a click id of yours, " +
    "see which page gives such ids out; else a stranger knows the address",
  refusals_not_kept:
    "`doctor` shows too few; the message says why, most often " +
    "as for `append_failing`",
  delivery_refused:
    "The service sends it again 5 minutes, then 1, 2, 4 and 8 " +
    "hours later. After that delivery is off",
  delivery_unanswered: "The service sends it again, and the repeat changes " +
    "nothing. When there are many, go on as for `delivery_failing`",
  append_failing: "Go on as for `ledger_refuses`",
  idle_connections_closed: "Put a proxy that has deadlines and limits in front",
  listening_publicly: "Put a proxy with deadlines and limits in front of a " +
    "public server; docs/operate.md has one. Where one stands there, or only " +
    "it reaches this port, all is well",
  chain_head: "Keep it elsewhere, for `ledger verify --expect`",
  operated: "`action` says what, `by` who: the name of the token",
  order_waits: "The message says what was paid of what, and which basket. " +
    "`rampkit orders show ID` says what to do; record what was done by " +
    "`rampkit release ID`",
  witness_failed: "Look at the ledger's disk and lock first. No order is " +
    "confirmed or released by it",
  spool_failed:
    "Its disk is full or fails, or it holds 1 GiB: deliveries are " +
    "answered 503. Bring disk and ledger back",
  spool_untidied: "`detail` names the file and says why. Often it belongs to " +
    "another user: give all of the folder to the one that runs `serve`. It is " +
    "tried again every few seconds",
  projection_failing: "Go on as for `events_not_folded`",
  forward_failing: "Go on as for `receiver_failing`",
  forward_dead: "Go on as for `dead_letters`",
  forward_off: "Go on as for `receiver_off`",
  handler_failing:
    "The message says what it threw. It is called again for the " +
    "same transition, ten times over about seventeen minutes unless you set " +
    "it otherwise",
  handler_dead: "Fix the handler, then `rampkit subscriptions retry NAME`",
  session_failed: "The message is the service's or the ledger's. Without " +
    "sessions nobody can buy: see the key (`rampkit doctor`) and the ledger",
  api_failing: "The message says why, most often that the database fails. " +
    "Deliveries do not depend on it",
  alarm_raised: "Go on as for the condition of its `code`. A process that is " +
    "down tells nothing: watch `/readyz` as well",
  alarm_not_sent: "The message says what the target answered; the alarm is " +
    "sent again while it stands. Fix the target",
  console_refused:
    "Many of them mean that somebody guesses: see who can reach " +
    "the console, and change any token that may be known",
  console_failed:
    "The message says why, most often that the ledger cannot be " +
    "read; `rampkit doctor` says more",
};

/** Alarms that last, each with the event that says that it is over. */
export const ALL_CLEARS = {
  not_ready: "ready",
  append_failing: "append_recovered",
  spool_failed: "spool_recovered",
  spool_nearly_full: "spool_has_room",
  large_bodies_refused: "large_bodies_taken",
  delivery_suspected: "delivery_recovered",
  delivery_failing: "delivery_recovered",
  poll_failing: "poll_recovered",
  projection_failing: "projection_recovered",
  forward_failing: "forward_recovered",
  handler_failing: "handler_recovered",
  alarm_raised: "alarm_cleared",
  alarm_not_sent: "alarm_sent",
  backup_failing: "backup_recovered",
  api_failing: "api_recovered",
} as const;
ALL_CLEARS satisfies Readonly<Partial<Record<LogEvent, LogEvent>>>;
