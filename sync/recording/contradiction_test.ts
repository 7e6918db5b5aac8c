import assert from "node:assert/strict";
import type { ClaimedStatus } from "../../ledger/machines/machine.ts";
import { contestingClaims } from "../../ledger/testing/mod.ts";
import type { StatusFacts } from "../../ledger/for_sync.ts";
import { CONTRADICTED_AFTER_MS, contradictions } from "./recorder.ts";

const claimedAt = "2026-11-20T10:00:00.000Z";
const claimedMs = Date.parse(claimedAt);
const later = claimedMs + CONTRADICTED_AFTER_MS;

function facts(
  claims: readonly ClaimedStatus[],
  shown: readonly string[] = [],
  contradicted: StatusFacts["contradicted"] = [],
): StatusFacts {
  const last = shown.at(-1);
  return {
    latest: last === undefined ? null : { status: last },
    claims: claims.map((status) => ({ status, lastAt: claimedAt })),
    observedStatuses: shown.map((status) => ({ status })),
    contradicted,
  };
}

Deno.test("contradictions() waits ten minutes, to the millisecond", () => {
  const forged = facts(["success"], ["progress"]);
  const ask = (requestedAtMs: number) =>
    contradictions(forged, { status: "progress", requestedAtMs });
  assert.deepEqual(ask(later - 1), []);
  assert.deepEqual(ask(later), [{ status: "success", upTo: claimedAt }]);
});

Deno.test("contradictions() takes a status that was ever shown as agreed", () => {
  const refunded = facts(["success"], ["success", "cancelled"]);
  assert.deepEqual(
    contradictions(refunded, { status: "cancelled", requestedAtMs: later }),
    [],
  );
});

Deno.test("contradictions() lets the service move past a status on the way", () => {
  const late = facts(["progress", "pending"], ["created"]);
  for (const status of ["success", "failed", "cancelled", "on_hold"]) {
    assert.deepEqual(
      contradictions(late, { status, requestedAtMs: later }),
      [],
      status,
    );
  }
  assert.deepEqual(
    contradictions(late, { status: "progress", requestedAtMs: later }),
    [{ status: "pending", upTo: claimedAt }],
  );
});

Deno.test("contradictions() never takes another end for agreement", () => {
  const statuses = ["success", "failed", "cancelled"] as const;
  for (const claimed of statuses) {
    for (const shown of statuses) {
      const found = contradictions(facts([claimed], [shown]), {
        status: shown,
        requestedAtMs: later,
      });
      assert.equal(found.length, claimed === shown ? 0 : 1);
    }
  }
});

Deno.test("contradictions() speaks against every claim of an unknown order", () => {
  const found = contradictions(facts(["progress", "success"]), {
    status: null,
    requestedAtMs: later,
  });
  assert.deepEqual(found.map((c) => c.status), ["progress", "success"]);
});

Deno.test("contradictions() says nothing twice, until the claim comes again", () => {
  const told = [{ status: "success", upTo: claimedAt }];
  const before = facts(["success"], ["progress"], told);
  const answer = { status: "progress", requestedAtMs: later * 2 };
  assert.deepEqual(contradictions(before, answer), []);
  const again = {
    ...before,
    claims: [{
      status: "success" as const,
      lastAt: "2026-11-20T10:30:00.000Z",
    }],
  };
  assert.deepEqual(contradictions(again, answer), [
    { status: "success", upTo: "2026-11-20T10:30:00.000Z" },
  ]);
});

Deno.test("contradictions() settles every contested order in the end", () => {
  const ends = ["failed", "success", "cancelled", "on_hold"];
  const claims: ClaimedStatus[] = ["failed", "success", "cancelled"];
  for (const shown of ends) {
    for (const claim of claims) {
      const contested = facts([claim], [shown]);
      const found = contradictions(contested, {
        status: shown,
        requestedAtMs: later,
      });
      const settled = { ...contested, contradicted: found };
      assert.deepEqual(contestingClaims(settled), [], `${claim} ${shown}`);
    }
  }
});
