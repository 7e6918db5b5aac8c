/** Serves pages of 20 orders: the current form, and below `/earlier` the earlier. */
import { earlierOrderBody, orderBody } from "./bodies.ts";

if (import.meta.main) {
  const page = (order: (order: number, step: number) => string, rest: string) =>
    `{"success":true,"data":[${
      Array.from({ length: 20 }, (_, at) => order(at, at % 4)).join(",")
    }]${rest},"total":4000}`;
  const current = page(orderBody, ',"next_cursor_id":"01JD333333333333333333"');
  const earlier = page(earlierOrderBody, "");
  const init = { headers: { "content-type": "application/json" } };
  Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
    },
    ({ url }) =>
      new Response(url.includes("/earlier/") ? earlier : current, init),
  );
}
