import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { Status, Trust } from "../../ledger/mod.ts";
import { named, oneOf, open } from "./_building.ts";
import type { Same } from "./same.ts";

/** The status of an order; the service may add to it. */
export const statusSchema = named(
  "OrderStatus",
  "The status of an order: one of those named here, or one that the service " +
    "invents later",
  open({
    created: true,
    progress: true,
    pending: true,
    failed: true,
    success: true,
    cancelled: true,
  }),
);

/** How sure the ledger is. */
export const trustSchema = named(
  "Trust",
  "claimed by webhooks, or confirmed by the service itself",
  oneOf<Trust>({ claimed: true, confirmed: true }),
);

/** The state of a verification; the service may add to it. */
export const verificationStateSchema = named(
  "VerificationState",
  "The state of a verification: one of those named here, or one that the " +
    "service invents later",
  open({
    "not initiated": true,
    initiated: true,
    progress: true,
    retry: true,
    success: true,
    failed: true,
  }),
);

/** Whether something is about an order or a user. */
export const entitySchema = oneOf<"order" | "user">({
  order: true,
  user: true,
});

true satisfies Same<typeof statusSchema._output, Status>;
true satisfies Same<typeof verificationStateSchema._output, VerificationState>;
