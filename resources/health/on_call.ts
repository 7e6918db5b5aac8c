import type { ConditionCode } from "./conditions.ts";

/**
 * What helps whoever is on call beyond the advice of a condition: what else is
 * known of it, what it does not harm, and when it is over. Markdown; the
 * reference prints it.
 */
export const ON_CALL: Readonly<Partial<Record<ConditionCode, string>>> = {
  ledger_replaced:
    "What was answered 204 before is in the old file. From then on " +
    "deliveries wait beside the ledger and still get 204, and nothing is " +
    "folded or polled. Leave `ledger restore` out where the right file is in " +
    "its place by now. The new start is the all-clear.",
  spool_damaged:
    "What can be read is taken into the ledger; the file is kept under a name " +
    "that ends in `.damaged`. Moving the file elsewhere is the all-clear.",
  spool_nearly_full:
    "The ledger does not take what waits: go on as for `ledger_refuses`. " +
    "All-clear: `spool_has_room`.",
  large_bodies_refused:
    "Bodies above 64 KiB share a tenth of the room that waiting deliveries " +
    "have, and an eighth of the memory for bodies. They alone get 503; every " +
    "other delivery is taken. Both secrets are valid while you change one. A " +
    "genuine one is sent again by the service, and polling finds what it " +
    "tells. All-clear: `large_bodies_taken`.",
  deliveries_waiting:
    "Deliveries that wait get 204 all the same, and go into " +
    "the ledger in order by themselves. A full disk needs room, a lock needs " +
    "the other process to end, and a spool without its `serve` needs that " +
    "started again.",
  ledger_refuses:
    "`/readyz` answers 200 with `degraded`: deliveries are kept durably. A " +
    "full disk needs room; a lock needs the other process to end. All-clear: " +
    "`append_recovered`, then `spool_drained`; `doctor` says `ok` of `Ledger` " +
    "and `Spool`.",
  deliveries_refused:
    "`/readyz` answers 503, and its `problem` says why. The service's retries " +
    "are counting. It is over when `/readyz` answers 200 and " +
    "`rampkit webhook send` gets 204.",
  disk_nearly_full:
    "Less than 256 MiB are left. `ledger prune` and `users erase` do not make " +
    "the file smaller, and need room themselves.",
  disk_full:
    "It is one alarm for all that follows from it: deliveries that wait or are " +
    "answered 503 (`/readyz` says which), events that are not folded, backups " +
    "that fail. Where 503 is answered the service's retries are counting.",
  events_not_folded: "Deliveries are safe, states are late. What keeps the " +
    "ledger from being written keeps it from being folded. It is over when " +
    "`rampkit ledger stats` shows 0 events not folded.",
  chain_broken:
    "The head of the evidence chain is kept in a file beside the ledger whose " +
    "name ends in `-chain`, and hourly in the log (`chain_head`). The chain " +
    "in the database was cut, removed or computed anew, or another file was " +
    "put in its place. Orders are confirmed as ever; the chain is not " +
    "extended until a person decides. Where a backup was put back on purpose, " +
    "`rampkit ledger restore` with it gives the anchored head up, and records " +
    "that. Else:\n\n" +
    "1. Stop `serve`, and copy the file with its `-wal`: it is the evidence.\n" +
    "2. Find the last backup that verifies: " +
    "`rampkit ledger verify --database-url file:BACKUP`.\n" +
    "3. `rampkit ledger export --output FILE` of both shows what was changed. " +
    "Find out who did it.\n" +
    "4. `rampkit ledger restore BACKUP`, start `serve`, and " +
    "`rampkit recover --from TIME`, with the time of the backup.\n\n" +
    "The same holds where `ledger verify` exits with 3. Where only stored " +
    "states differ (`--states`), `rampkit ledger refold` corrects them. " +
    "The next start is the all-clear.",
  delivery_suspected:
    "The service switches delivery off after failures and tells nobody. A " +
    "change of an order is silent when no webhook that claims its status has " +
    "come 6 minutes after it. The alarm begins when 3 of the last 30 changes, " +
    "or the last 2, are silent. It ends when 5 in a row were announced, or " +
    "when the silent ones came after all; what waits here delays it. The " +
    "countdown shows both readings of the service's rule, 8 hours and 15 " +
    "hours 5 minutes after the first failure; by a third one failure is " +
    "enough. Check that the endpoint is reachable from outside, see the log " +
    "of sent events in the service's dashboard, and enable webhooks there. " +
    "Orders stay right, only later: the poller finds every change. " +
    "`rampkit recover --from … --to …` over the outage runs beside `serve`; " +
    "exit code 0 means that all of it was read. All-clear: " +
    "`delivery_recovered`, with the orders whose webhooks never came.",
  delivery_failing:
    "The same countdown runs. Look for a slow disk, a full one, or a database " +
    "far away. It is over when a webhook about an order that the service has " +
    "shown is answered in time; webhooks about users do not count.",
  requests_refused:
    "The service's own deliveries are among them when the address in its " +
    "dashboard is wrong, when it delivers from an address that " +
    "`serve --allow` does not name (`lastNotAllowed`), or when a body is over " +
    "1 MiB: then it switches delivery off. Behind a proxy every request comes " +
    "from the proxy's address. Name the header in which it states the client, " +
    "and your proxies: `rampkit serve --allow 192.0.2.0/24 " +
    "--client-address-header X-Forwarded-For --trusted-proxies 10.0.0.0/8`. " +
    "The header is read from its end and believed from those proxies alone; " +
    "the proxy has to set it or append to it on every request.",
  answers_drifted: "Counted by name: a field (`orders.risk`), a word " +
    "(`orders.status=refunded`), a form of a time. Names hold no value of a " +
    "person or an order. Look for a newer version of this package. Until then " +
    "a status that is not known is never final and releases nothing. It " +
    "stands for a day after the last one.",
  webhooks_drifted:
    "Anybody who knows the address can send them: look before " +
    "you believe them.",
  poll_failing:
    "Deliveries are taken all the same, and lost ones are not found " +
    "meanwhile. The table of causes below says what to do. All-clear: " +
    "`poll_recovered`; every change of the outage is found by itself.",
  confirmations_waiting:
    "What webhooks claimed of orders and users that the service knows waits " +
    "for a reading for more than 15 minutes. Where `poll_failing` stands as " +
    "well, mend that first.",
  ids_refused:
    "The service refuses every request with such an id in it, and answers the " +
    "others. It is requested alone, first 10 seconds later, at last once an " +
    "hour; all others are confirmed as ever. An id that only a forged webhook " +
    "names needs nothing.",
  orders_waiting:
    "One for each reason, so that many orders are one alarm. Each order is a " +
    "line of the log of its own as well, `order_waits`. It is over when each " +
    "was released, or settled by hand with `rampkit release`.",
  released_unchecked: "`rampkit orders list --release unchecked` lists them. " +
    "The first record is the all-clear; from then on each `unchecked` order " +
    "waits for a person.",
  receiver_failing:
    "It is an alarm once it has lasted five minutes. Nothing is lost: transitions are sent again ten times over three days, " +
    "in order within an order or user; `Retry-After` is honoured. What failed " +
    "is sent when its next attempt is due, after a long outage hours later: " +
    "`rampkit subscriptions retry NAME` sends it at once.",
  receiver_off: "The target answered 410: it wants no more webhooks, and its " +
    "transitions wait. Where that was a mistake, mend it, then " +
    "`rampkit subscriptions resume NAME` sends all that waited. Else take it " +
    "out of `RAMPKIT_FORWARD_TO`.",
  dead_letters:
    "A target took a transition in none of ten attempts, or a handler of " +
    "yours failed as often as it may. `rampkit subscriptions list` shows them " +
    "with the last answer. They hold nobody up: later transitions of the same " +
    "order or user are sent, and name them in `missed`. Fix the receiver, " +
    "then `rampkit subscriptions retry NAME` sends them, with `late: true` " +
    "where later ones went before; `rampkit subscriptions drop NAME KEY` " +
    "gives one up.",
  backup_old:
    "Looked at is the folder of the running `serve`, else one beside " +
    "the ledger, or the one that `doctor --backup-to DIR` names. It stands " +
    "above twice `--every`.",
  backup_failing:
    "Older backups are kept. Mend a folder that is full or may not be " +
    "written: it is tried again every five minutes. For a copy that does not " +
    "verify run `rampkit ledger verify`. All-clear: `backup_recovered`.",
};
