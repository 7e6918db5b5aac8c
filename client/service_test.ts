// A real HTTP server for the tests of this folder, and inputs it accepts.
import { OnrampClient, type OnrampClientOptions } from "./client.ts";
import type { CardInput } from "./cards.ts";
import type { CustomEnvironment } from "../core/assets/environment.ts";
import type { Operation } from "./call_options.ts";
import type { UserInput } from "./users.ts";

export const apiKey = "key-5f1e8c/never+shown=";
export const cardNumber = "4242424242424242";

export interface Service extends AsyncDisposable {
  readonly client: OnrampClient;
  readonly url: string;
  /** Requests received, in order. */
  readonly requests: {
    method: string;
    path: string;
    query: URLSearchParams;
    headers: Headers;
    body: string;
  }[];
}

export type Handler = (
  request: Request,
  count: number,
) => Response | Promise<Response>;

/** Starts a server on the loopback and a client that talks to it. */
export function serve(
  handler: Handler,
  options: Partial<OnrampClientOptions> = {},
): Service {
  const requests: Service["requests"] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      requests.push({
        method: request.method,
        path: pathname,
        query: searchParams,
        headers: request.headers,
        body: await request.clone().text(),
      });
      return await handler(request, requests.length);
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const client = new OnrampClient({
    environment: local(url),
    apiKey,
    requestsPerSecond: 1e6,
    retries: 0,
    ...options,
  });
  return {
    client,
    url,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

export function local(url: string): CustomEnvironment {
  return {
    name: "local",
    baseUrl: url,
    cardsBaseUrl: `${url}/cards`,
    widgetOrigin: url,
    dashboardUrl: url,
  };
}

/** A client whose answers come from a function, without any server. */
export function inject(
  handler: Handler,
  options: Partial<OnrampClientOptions> = {},
): { client: OnrampClient; requests: Request[] } {
  const requests: Request[] = [];
  const client = new OnrampClient({
    environment: local("http://service.test"),
    apiKey,
    requestsPerSecond: 1e6,
    retries: 0,
    fetch: async (input, init) => {
      const request = new Request(input as string, init);
      requests.push(request);
      return await handler(request, requests.length);
    },
    ...options,
  });
  return { client, requests };
}

export const user: UserInput = {
  has_accepted_terms_of_service: true,
  phone: "+15551234567",
  email: "ann@example.com",
  first_name: "Ann",
  last_name: "Example",
  date_of_birth: "1990-01-31",
  country_of_residence: "USA",
  state_of_residence: "CA",
};

export const card: CardInput = {
  card_number: cardNumber,
  exp_month: "01",
  exp_year: "2031",
  user_id: "01HZXUSER",
  billing_address: {
    country: "US",
    state: "CA",
    postal_code: "94105",
    city: "San Francisco",
    street: "1 Main Street",
  },
};

/** One call of each kind. */
export const calls: Readonly<
  Record<
    Operation,
    (client: OnrampClient, signal?: AbortSignal) => Promise<unknown>
  >
> = {
  "sessions.create": (client, signal) =>
    client.sessions.create({ flow_type: "simple" }, passing(signal)),
  "orders.page": (client, signal) => client.orders.page({}, passing(signal)),
  "users.page": (client, signal) => client.users.page({}, passing(signal)),
  "users.create": (client, signal) =>
    client.users.create(user, passing(signal)),
  "cards.register": (client, signal) =>
    client.cards.register(card, passing(signal)),
};

function passing(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** What each call gets when all is well. */
export const answers: Readonly<Record<Operation, string>> = {
  "sessions.create": '{"sessionId":"S","requestId":"R"}',
  "orders.page": '{"success":true,"data":[],"total":0}',
  "users.page": '{"success":true,"data":[],"total":0}',
  "users.create": '{"user_id":"U","created_at":"2026-01-01T00:00:00Z"}',
  "cards.register": '{"card_id":"C"}',
};

export const operations = Object.keys(calls) as Operation[];
