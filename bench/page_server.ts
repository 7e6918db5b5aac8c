/** Serves one page of 20 orders, whatever is asked. */
import { orderBody } from "./bodies.ts";

if (import.meta.main) {
  const orders = Array.from({ length: 20 }, (_, at) => orderBody(at, at % 4));
  const page = `{"success":true,"data":[${orders.join(",")}],` +
    '"next_cursor_id":"01JD3333333333333333333333","total":4000}';
  const init = { headers: { "content-type": "application/json" } };
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  }, () => new Response(page, init));
}
