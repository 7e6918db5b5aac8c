import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type Delivery,
  type WebhookEndpoint,
  webhookEndpoint,
  type WebhookEndpointOptions,
} from "./mod.ts";
import { until } from "../tests/kit/until.ts";

const SECRET = "secret-0123456789abcdef0123456789";
const PATH = `/webhooks/${SECRET}`;

interface Served {
  readonly port: number;
  readonly endpoint: WebhookEndpoint;
  readonly stored: Delivery[];
}

async function served(
  options: Partial<WebhookEndpointOptions>,
  work: (served: Served) => Promise<void>,
): Promise<void> {
  const stored: Delivery[] = [];
  const endpoint = webhookEndpoint({
    append: (delivery) => {
      stored.push(delivery);
      return Promise.resolve();
    },
    secrets: [SECRET],
    ...options,
  });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    endpoint,
  );
  try {
    await work({ port: server.addr.port, endpoint, stored });
    const { inFlight, heldBytes } = endpoint.stats();
    assert.deepEqual({ inFlight, heldBytes }, { inFlight: 0, heldBytes: 0 });
  } finally {
    await server.shutdown();
    await endpoint.drain();
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One raw connection: what is written is what goes over the wire. */
class Wire implements Disposable {
  readonly #connection: Deno.TcpConn;
  #received = "";

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  static async open(port: number): Promise<Wire> {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    connection.setNoDelay();
    return new Wire(connection);
  }

  /** Writes all of it; a server that has hung up is no error here. */
  async write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? encoder.encode(data) : data;
    try {
      for (let at = 0; at < bytes.length;) {
        at += await this.#connection.write(bytes.subarray(at));
      }
    } catch (error) {
      assert(
        error instanceof Deno.errors.BrokenPipe ||
          error instanceof Deno.errors.ConnectionReset,
      );
    }
  }

  /** Status of the next answer; null when the server hung up without one. */
  async status(): Promise<number | null> {
    const buffer = new Uint8Array(4096);
    while (true) {
      const end = this.#received.indexOf("\r\n\r\n");
      if (end !== -1) {
        const head = this.#received.slice(0, end);
        assert.match(head, /^HTTP\/1\.1 \d{3} /);
        this.#received = this.#received.slice(end + 4);
        return Number(head.slice(9, 12));
      }
      const count = await this.#connection.read(buffer).catch(() => null);
      if (count === null) return null;
      this.#received += decoder.decode(buffer.subarray(0, count));
    }
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

function head(headers: string, path = PATH): string {
  return `POST ${path} HTTP/1.1\r\nhost: shop.example\r\n${headers}\r\n\r\n`;
}

function chunked(body: Uint8Array, cuts: readonly number[]): Uint8Array {
  const edges = [
    ...new Set([0, ...cuts.filter((cut) => cut < body.length), body.length]),
  ]
    .toSorted((a, b) => a - b);
  const parts: number[] = [];
  edges.slice(1).forEach((end, index) => {
    const chunk = body.subarray(edges[index] ?? 0, end);
    parts.push(...encoder.encode(`${chunk.length.toString(16)}\r\n`));
    parts.push(...chunk, 13, 10);
  });
  return Uint8Array.of(...parts, ...encoder.encode("0\r\n\r\n"));
}

Deno.test("webhookEndpoint() keeps any bytes exactly, in one piece or in chunks", () =>
  served({}, async ({ port, stored }) => {
    using wire = await Wire.open(port);
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.array(fc.nat(300), { maxLength: 5 }),
        fc.boolean(),
        async (body, cuts, inChunks) => {
          stored.length = 0;
          if (inChunks) {
            await wire.write(head("transfer-encoding: chunked"));
            await wire.write(chunked(body, cuts));
          } else {
            await wire.write(head(`content-length: ${body.length}`));
            await wire.write(body);
          }
          assert.equal(await wire.status(), 204);
          assert.equal(stored.length, 1);
          assert.deepEqual(stored[0]?.body, new Uint8Array(body));
        },
      ),
      { numRuns: 150 },
    );
  }));

Deno.test("webhookEndpoint() answers 204 to any JSON object under any content type", () =>
  served({}, async ({ port, stored }) => {
    using wire = await Wire.open(port);
    const contentType = fc.constantFrom(
      "application/json",
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json; charset=utf-16",
      "not a type",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
        contentType,
        async (value, type) => {
          stored.length = 0;
          const body = encoder.encode(JSON.stringify(value));
          await wire.write(
            head(`content-type: ${type}\r\ncontent-length: ${body.length}`),
          );
          await wire.write(body);
          assert.equal(await wire.status(), 204);
          assert.deepEqual(stored[0]?.body, body);
        },
      ),
      { numRuns: 150 },
    );
  }));

Deno.test("webhookEndpoint() answers 204 to hostile JSON", () =>
  served({}, async ({ port, stored }) => {
    const deep = 250_000;
    const bodies = [
      `{"a":${"[".repeat(deep)}${"]".repeat(deep)}}`,
      `${`{"a":`.repeat(deep / 2)}1${"}".repeat(deep / 2)}`,
      `{"n":1${"0".repeat(100_000)}}`,
      `{"n":1e999999999,"m":-0.${"1".repeat(50_000)}}`,
      `{${`"a":1,`.repeat(100_000)}"a":2}`,
      `{"a":"${"\\ud800".repeat(10_000)}"}`,
      `{"__proto__":{"type":"login"},"constructor":{"prototype":{"x":1}}}`,
      `{"type":"${"x".repeat(900_000)}"}`,
      `{"type":"order_complete","order":{"id":"${"\\u0000".repeat(1_000)}"}}`,
      `\ufeff{"type":"login"}`,
    ];
    using wire = await Wire.open(port);
    for (const body of bodies) {
      const bytes = encoder.encode(body);
      await wire.write(head(`content-length: ${bytes.length}`));
      await wire.write(bytes);
      assert.equal(await wire.status(), 204, body.slice(0, 40));
      assert.deepEqual(stored.at(-1)?.body, bytes);
    }
    assert.equal(Object.hasOwn(Object.prototype, "x"), false);
  }));

for (const framing of ["content-length: 100", "transfer-encoding: chunked"]) {
  Deno.test(`webhookEndpoint() is not held by slow bodies with ${framing}`, () =>
    served({ bodyDeadlineMs: 200 }, async ({ port, stored, endpoint }) => {
      const slow = await Promise.all(
        Array.from({ length: 100 }, () => Wire.open(port)),
      );
      const startedAt = performance.now();
      for (const wire of slow) {
        await wire.write(
          head(framing) + (framing.includes("chunked") ? "1\r\n{\r\n" : "{"),
        );
      }
      const trickle = setInterval(() => {
        for (const wire of slow) {
          wire.write(framing.includes("chunked") ? "1\r\n \r\n" : " ");
        }
      }, 50);
      try {
        using quick = await Wire.open(port);
        await quick.write(head("content-length: 2") + "{}");
        assert.equal(await quick.status(), 204);
        const statuses = await Promise.all(slow.map((wire) => wire.status()));
        assert.deepEqual([...new Set(statuses)], [408]);
        assert(performance.now() - startedAt < 30_000);
      } finally {
        clearInterval(trickle);
        for (const wire of slow) wire[Symbol.dispose]();
      }
      assert.equal(stored.length, 1);
      assert.equal(endpoint.stats().answers["408"], 100);
    }));
}

Deno.test("webhookEndpoint() stores nothing of a body that breaks off", () =>
  served({}, async ({ port, stored, endpoint }) => {
    for (
      const start of [
        `${head("content-length: 100")}{"type":`,
        `${head("transfer-encoding: chunked")}5\r\n{"typ`,
        `${head("transfer-encoding: chunked")}5\r\n{"typ\r\nzz\r\n`,
      ]
    ) {
      const wire = await Wire.open(port);
      await wire.write(start);
      // The server itself turns away the last one, whose chunks are none.
      if (start.includes("zz")) await wire.status();
      else await until(() => endpoint.stats().inFlight === 1);
      wire[Symbol.dispose]();
      await until(() => endpoint.stats().inFlight === 0);
    }
    assert.deepEqual(stored, []);
    assert.equal(endpoint.stats().answers["400"], 2);
  }));

Deno.test("webhookEndpoint() refuses a stated length without reading, and an endless body at the limit", () =>
  served({ maxBodyBytes: 10_000 }, async ({ port, stored, endpoint }) => {
    using stated = await Wire.open(port);
    await stated.write(head("content-length: 99999999999999"));
    assert.equal(await stated.status(), 413);

    using endless = await Wire.open(port);
    await endless.write(head("transfer-encoding: chunked"));
    const chunk = `400\r\n${" ".repeat(1024)}\r\n`;
    let sent = 0;
    const answered = endless.status();
    let open = true;
    answered.then(() => open = false);
    while (open && sent++ < 5_000) {
      await endless.write(chunk);
      if (sent % 16 === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    assert.equal(await answered, 413);
    assert(sent < 5_000);
    assert.deepEqual(stored, []);
    assert.equal(endpoint.stats().answers["413"], 2);
  }));

for (
  const [framing, start] of [
    ["content-length: 1000", "{"],
    ["transfer-encoding: chunked", `3e8\r\n${" ".repeat(1_000)}\r\n`],
  ] as const
) {
  Deno.test(`webhookEndpoint() holds no more bytes than it may with ${framing}`, () => {
    // All come at once, however busy the machine is.
    let nowMs = 0;
    return served(
      { maxHeldBytes: 10_000, bodyDeadlineMs: 300, clock: () => nowMs },
      async ({ port, endpoint }) => {
        const wires = await Promise.all(
          Array.from({ length: 50 }, () => Wire.open(port)),
        );
        try {
          await Promise.all(
            wires.map((wire) => wire.write(head(framing) + start)),
          );
          await until(() => endpoint.stats().answers[503] === 40);
          nowMs = 300;
          const statuses = await Promise.all(
            wires.map((wire) => wire.status()),
          );
          assert.equal(statuses.filter((status) => status === 503).length, 40);
          assert.equal(statuses.filter((status) => status === 408).length, 10);
        } finally {
          for (const wire of wires) wire[Symbol.dispose]();
        }
        assert.equal(endpoint.stats().heldBytes, 0);
      },
    );
  });
}

Deno.test("webhookEndpoint() survives bytes that are not HTTP, and invalid paths", () =>
  served({}, async ({ port, stored, endpoint }) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        using wire = await Wire.open(port);
        await wire.write(bytes);
      }),
      { numRuns: 50 },
    );
    for (
      const path of [
        "*",
        "//",
        "/webhooks/%",
        "/webhooks/%ff",
        `/webhooks/%zz${SECRET}`,
        "/webhooks/../x",
        `/webhooks/${"x".repeat(8_000)}`,
        `http://elsewhere/x`,
      ]
    ) {
      using wire = await Wire.open(port);
      await wire.write(`${head("content-length: 2", path)}{}`);
      const status = await wire.status();
      assert(status === null || status >= 400, `${path}: ${status}`);
    }
    using wire = await Wire.open(port);
    await wire.write(`${head("content-length: 2")}{}`);
    assert.equal(await wire.status(), 204);
    assert.equal(stored.length, 1);
    assert.equal(endpoint.stats().answers["204"], 1);
  }));

Deno.test("webhookEndpoint() answers every request of many connections, and stores each once", () =>
  served({}, async ({ port, stored }) => {
    const connections = 100;
    const each = 20;
    await Promise.all(
      Array.from({ length: connections }, async (_, connection) => {
        using wire = await Wire.open(port);
        for (let n = 0; n < each; n++) {
          const body = `{"from":"${connection}-${n}"}`;
          await wire.write(`${head(`content-length: ${body.length}`)}${body}`);
          assert.equal(await wire.status(), 204);
        }
      }),
    );
    const bodies = new Set(stored.map(({ body }) => decoder.decode(body)));
    assert.equal(stored.length, connections * each);
    assert.equal(bodies.size, connections * each);
    assert.equal(new Set(stored.map(({ id }) => id)).size, connections * each);
  }));
