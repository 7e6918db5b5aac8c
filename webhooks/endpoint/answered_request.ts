import type { RefusalReason } from "./refusal.ts";
import type { Delivery } from "../../core/wire/delivery.ts";

/** A request that the endpoint answered, for those who watch it. */
export interface AnsweredRequest {
  /** The delivery; null where no body was taken in. */
  readonly delivery: Delivery | null;
  /** Status of the answer. */
  readonly status: number;
  /** Why it was refused; null where it was not. */
  readonly refusal: RefusalReason | null;
  /** Time from arrival to answer, in ms. */
  readonly durationMs: number;
}
