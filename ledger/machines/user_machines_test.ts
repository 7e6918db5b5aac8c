import assert from "node:assert/strict";
import {
  WEBHOOK_TYPES,
  type WebhookType,
} from "../../core/webhook_event/webhook_event.ts";
import type { RecordedEvent } from "../events/event.ts";
import { foldUser } from "../testing/fold_user.ts";
import {
  erased,
  facts,
  orderWebhook,
  USER,
  userRead,
  userWebhook,
  webhookAt,
} from "../testing/given_facts.ts";
import { nextStep, type UserState, userState } from "../users/user_state.ts";
import {
  banMachine,
  fkycMachine,
  lkycMachine,
  type VerificationName,
} from "./machine.ts";

const names = Object.keys(lkycMachine.states) as VerificationName[];
/** A state, and the row of the table that it has. */
const states = [...names, "frozen"];
const rowOf = (state: string) =>
  state === "frozen" ? "unlisted" : state as VerificationName;
const readOf = (machine: "lkyc" | "fkyc", minute: number, state: string) =>
  userRead(minute, { [`${machine}_status`]: state });
const claimOf = (machine: "lkyc" | "fkyc", minute: number, state: string) =>
  machine === "lkyc"
    ? userWebhook(minute, "login", state)
    : userWebhook(minute, "login", null, state);

function stateOf(...events: RecordedEvent[]): UserState {
  return userState(foldUser(USER, facts(...events)));
}

for (const machine of [lkycMachine, fkycMachine]) {
  const { name, decisions, moves } = machine;

  Deno.test(`the decisions of ${name} are what the fold makes of every reading and claim`, () => {
    for (const read of [null, ...states]) {
      const row = read === null ? "none" : rowOf(read);
      for (const claim of [null, ...states]) {
        const column = claim === null ? "none" : rowOf(claim);
        const state = stateOf(
          ...(read === null ? [] : [readOf(name, 5, read)]),
          ...(claim === null ? [] : [claimOf(name, 6, claim)]),
        );
        const shown = `${state.verification[name]} ${
          state.verificationTrust[name]
        } beside ${state.laterClaims[name]}, ask ${state.needsConfirm}`;
        // A state that is not documented is in doubt beside another such only.
        const agrees = read === "frozen" && claim === "frozen";
        const decision = agrees ? "reading" : decisions[row][column];
        const expected = {
          initial: "null claimed beside null, ask true",
          claim: `${claim} claimed beside null, ask true`,
          reading: `${read} confirmed beside null, ask false`,
          reading_in_doubt: `${read} confirmed beside ${claim}, ask true`,
          reading_contested: "no verification is contested",
        }[decision];
        assert.equal(shown, expected, `decisions.${row}.${column}`);
      }
    }
    const odd = stateOf(readOf(name, 5, "frozen"), claimOf(name, 6, "melted"));
    assert.equal(
      odd.laterClaims[name],
      "melted",
      "decisions.unlisted.unlisted",
    );
  });

  Deno.test(`the ranks of ${name} decide between claims, and its decisions follow them`, () => {
    for (const [at, lower] of names.entries()) {
      for (const higher of names.slice(at + 1)) {
        const state = stateOf(
          claimOf(name, 1, higher),
          claimOf(name, 1, lower),
        );
        assert.equal(state.verification[name], higher, `${lower} < ${higher}`);
        assert.equal(decisions[lower][higher], "claim", `${lower} ${higher}`);
        assert.equal(decisions[higher][lower], "reading_in_doubt");
      }
    }
  });

  Deno.test(`the moves of ${name} are the anomalies that two readings make`, () => {
    for (const from of states) {
      for (const to of states) {
        const { kind, anomaly } = moves[rowOf(from)][rowOf(to)];
        const { anomalies } = stateOf(
          readOf(name, 1, from),
          readOf(name, 2, to),
        );
        const raised = from === to ? null : anomaly;
        assert.deepEqual(
          anomalies.map((one) => [one.kind, one.field]),
          raised === null ? [] : [[raised, name]],
          `moves.${from}.${to}`,
        );
        const unusual = kind === "unusual" || kind === "impossible";
        assert.equal(unusual, anomaly !== null, `moves.${from}.${to}`);
      }
    }
  });

  Deno.test(`the webhooks of ${name} are the events that state it`, () => {
    for (const type of Object.keys(WEBHOOK_TYPES) as WebhookType[]) {
      const states = type in orders
        ? orderWebhook(1, type, {}, stated)
        : webhookAt(1, {
          type,
          user_id: USER,
          click_id: "",
          status: "x",
          ...stated,
        });
      assert.equal(
        stateOf(states).verification[name],
        machine.webhooks[type] === "stated" ? "retry" : null,
        `webhooks.${type}`,
      );
    }
    assert.equal(
      stateOf(erased(claimOf(name, 1, "retry"))).verification[name],
      null,
    );
  });
}

const orders = {
  payment_started: true,
  transfer_started: true,
  order_complete: true,
  order_failed: true,
  order_cancelled: true,
};
const stated = {
  user: {
    user_id: USER,
    verification_status: { lkyc: { state: "retry" }, fkyc: { state: "retry" } },
  },
};

Deno.test("the machine of the ban is what readings state", () => {
  assert.deepEqual(
    [undefined, false, true].map((banned) =>
      stateOf(userRead(1, { banned })).banned
    ),
    [null, false, true],
  );
  assert.deepEqual(Object.keys(banMachine.states), ["not_banned", "banned"]);
  assert.ok(Object.values(banMachine.webhooks).every((one) => one === null));
});

Deno.test("nextStep() tells each status of a user apart", () => {
  const steps = [...names, "banned", "unknown"].map(nextStep);
  assert.equal(new Set(steps).size, steps.length);
  assert.equal(nextStep("constructor"), "unknown");
});
