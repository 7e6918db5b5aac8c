import type { Delivery } from "../../core/wire/delivery.ts";
import type { Timed } from "./deadlines.ts";

/** One request from its arrival to its answer. */
export class Exchange implements Timed {
  /** By the clock of the deadlines. */
  readonly arrivedAt: number;
  /** The answer. */
  readonly answered: Promise<Response>;
  /** When the present step must be done; infinite once it is answered. */
  dueAt: number;
  /** Bytes of memory that are held for it. */
  heldBytes = 0;
  /** What is being stored; null while the body is being read. */
  delivery: Delivery | null = null;
  readonly #onDue: (exchange: Exchange) => void;
  #resolve!: (response: Response) => void;

  constructor(
    arrivedAt: number,
    dueAt: number,
    onDue: (exchange: Exchange) => void,
  ) {
    this.arrivedAt = arrivedAt;
    this.dueAt = dueAt;
    this.#onDue = onDue;
    this.answered = new Promise((resolve) => this.#resolve = resolve);
  }

  /** Whether it was answered. */
  get isOver(): boolean {
    return this.dueAt === Infinity;
  }

  /** Gives the answer, which is the last. */
  end(response: Response): void {
    this.dueAt = Infinity;
    this.delivery = null;
    this.#resolve(response);
  }

  /** The present step takes too long. */
  onDue(): void {
    this.#onDue(this);
  }
}
