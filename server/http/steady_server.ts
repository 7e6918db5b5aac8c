import { closeSync, openSync } from "node:fs";
import type { HttpServerOptions } from "../../core/serving/http_server.ts";
import { sleep } from "../../core/waiting/sleep.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";

/** Where a server listens. */
export interface ListenAddress {
  /** The address. */
  readonly hostname: string;
  /** The port. */
  readonly port: number;
}

/** What a steady server is made of. */
export interface SteadyServerOptions {
  /** Port to listen on, 0 for a free one. */
  readonly port: number;
  /** Address to listen on. */
  readonly hostname: string;
  /** Answers requests. */
  readonly handler: HttpServerOptions["handler"];
  /** Called once with the address it listens on. */
  readonly onListen: (address: ListenAddress) => void;
  /** Called when connections were dropped, and when that has ended. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/** A file that can always be opened; Deno asks for no permission. */
const NULL_DEVICE = "/dev/null";
/** Descriptors kept free for the database, the spool and the poller. */
const RESERVE = 16;
/**
 * With so many descriptors in use, connections are closed, each after what it
 * has under way: one keeps the memory that its longest requests took, up to some
 * hundred KiB, and `Deno.serve` does not end it where an answer says
 * `connection: close`. At rest about 80 are in use. Half as many clients must
 * have had a good answer of this server since, which senders of half a request
 * have not.
 */
const CROWD = 384;
/**
 * Least time between two closings of a crowd, ms: nobody can connect for some 5
 * ms.
 */
const CROWD_EVERY_MS = 5_000;
/** Interval between two looks for free descriptors, ms. */
const LOOK_EVERY_MS = 250;
/** Pause before listening is tried again, ms. */
const AGAIN_AFTER_MS = 1;
/** The alarm ends after this long without dropped connections, ms. */
const SETTLED_AFTER_MS = 60_000;

/**
 * `Deno.serve` that outlives a flood of idle connections.
 *
 * `Deno.serve` has no deadline for headers, no idle deadline and no limit of
 * connections: senders of unfinished headers use up every descriptor, then
 * accepting fails and the listener is gone. Here a reserve of descriptors stays
 * out of their reach. When the others are used up the reserve is let go, every
 * connection without a request under way is closed, requests under way are
 * answered, and the port is listened on again, within a few milliseconds. The
 * same becomes of a crowd, because of the memory that it holds.
 *
 * Chosen because it costs a delivery nothing. `node:http` has all three limits
 * and at most two thirds of the speed; a guard in front that passes bytes on
 * needs twice the descriptors. A time limit for every idle connection would
 * need a second listener on the port (`reusePort`), which is unstable.
 */
export class SteadyServer {
  readonly #options: SteadyServerOptions;
  readonly #lookTimer: ReturnType<typeof setInterval>;
  readonly #closing = new Set<Promise<void>>();
  #server: Deno.HttpServer<Deno.NetAddr>;
  #port: number;
  #reserve: Deno.FsFile[] = [];
  /** Ports of clients that got a good answer since any were last closed. */
  readonly #answered = new PortSet();
  #closesCrowdAt = 0;
  #stopped = false;
  /** Listening again, while that is under way. */
  #renewing: Promise<void> | null = null;
  readonly #dropping: Alarm;
  /** Times that connections were dropped since the alarm was raised. */
  #droppedTimes = 0;
  #droppedAt = 0;

  /**
   * Listens.
   *
   * @throws {Error} What `Deno.serve` throws when the port cannot be used.
   */
  constructor(options: SteadyServerOptions) {
    this.#options = options;
    this.#dropping = new Alarm(options.log, "connections_dropped", options.now);
    this.#port = options.port;
    this.#server = this.#serve(options.onListen);
    this.#port = this.#server.addr.port;
    this.#refill();
    this.#lookTimer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  /** Takes no more connections; resolves when requests under way are answered. */
  async shutdown(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#lookTimer);
    await this.#renewing;
    await this.#server.shutdown().catch(() => {}); // Closed already.
    await Promise.all(this.#closing);
    this.#release();
  }

  #serve(onListen: (address: ListenAddress) => void = () => {}) {
    const { hostname, handler } = this.#options;
    const server = Deno.serve(
      { port: this.#port, hostname, onListen },
      async (request, info) => {
        const answer = await handler(request, info);
        if (answer.ok) this.#answered.add(info.remoteAddr.port);
        return answer;
      },
    );
    server.finished.catch(() => {
      // Accepting failed, which `Deno.serve` does not go on after.
      if (this.#server === server) this.#renew();
    });
    return server;
  }

  /** Whether nothing but the reserve is left, or a crowd is there. */
  #look(): void {
    if (this.#reserve.length < RESERVE) this.#refill();
    try {
      const isCrowd = descriptorsInUse() >= CROWD &&
        this.#answered.size >= CROWD / 2;
      if (isCrowd && performance.now() >= this.#closesCrowdAt) {
        this.#closesCrowdAt = performance.now() + CROWD_EVERY_MS;
        this.#renew();
      }
    } catch (error) {
      if (isOutOfDescriptors(error)) this.#renew();
    }
    if (performance.now() - this.#droppedAt < SETTLED_AFTER_MS) return;
    this.#dropping.clear({ times: this.#droppedTimes });
  }

  /** Closes the idle connections, and listens again. */
  #renew(): void {
    if (this.#stopped || this.#renewing !== null) return;
    this.#release();
    this.#answered.clear();
    const closed = this.#server.shutdown().catch(() => {}).finally(() => {
      this.#closing.delete(closed);
    });
    this.#closing.add(closed);
    this.#report();
    this.#renewing = this.#listenAgain().finally(() => {
      this.#renewing = null;
    });
  }

  async #listenAgain(): Promise<void> {
    while (!this.#stopped) {
      try {
        this.#server = this.#serve();
        return;
      } catch {
        // The old listener is being closed, or no descriptor is free yet.
        await sleep(AGAIN_AFTER_MS);
      }
    }
  }

  #report(): void {
    if (this.#dropping.since === null) this.#droppedTimes = 0;
    this.#droppedTimes++;
    this.#droppedAt = performance.now();
    this.#dropping.raise({
      message: "Too many connections were open: idle ones were closed",
      advice: "Put a proxy with limits in front",
    });
  }

  /** Takes the reserve, as far as descriptors are left. */
  #refill(): void {
    try {
      while (this.#reserve.length < RESERVE) {
        this.#reserve.push(openDescriptor());
      }
    } catch {
      // The next look tries again, or the system has no such file.
    }
  }

  #release(): void {
    for (const file of this.#reserve.splice(0)) file.close();
  }
}

/** Some ports; adding one costs a request next to nothing. */
class PortSet {
  readonly #has = new Uint8Array(65_536);
  size = 0;

  add(port: number): void {
    if (this.#has[port] === 1) return;
    this.#has[port] = 1;
    this.size++;
  }

  clear(): void {
    this.#has.fill(0);
    this.size = 0;
  }
}

/**
 * How many descriptors are in use, at least: a new one gets the lowest number
 * that is free. 0 where that cannot be seen, which takes `--allow-read=/dev/null`.
 *
 * @throws {Error} When none is free.
 */
function descriptorsInUse(): number {
  openDescriptor().close();
  try {
    const descriptor = openSync(NULL_DEVICE, "r");
    closeSync(descriptor);
    return descriptor;
  } catch {
    return 0;
  }
}

function openDescriptor(): Deno.FsFile {
  return Deno.openSync(NULL_DEVICE);
}

/** Whether this process, or the system, has no descriptor left. */
function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && /\(os error 2[34]\)/.test(error.message);
}
