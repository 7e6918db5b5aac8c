/**
 * Takes webhooks, parses each, and counts those that come out of order within
 * an order or user; `GET /` says how many came, and forgets them.
 */
if (import.meta.main) {
  let taken = 0;
  let outOfOrder = 0;
  let last = new Map<string, number>();
  Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
    },
    async (request) => {
      if (request.method === "GET") {
        const counted = { taken, outOfOrder };
        [taken, outOfOrder, last] = [0, 0, new Map()];
        return Response.json(counted);
      }
      const { data } = await request.json();
      const key = `${data.entity}:${data.id}`;
      if ((last.get(key) ?? 0) >= data.seq) outOfOrder++;
      last.set(key, data.seq);
      taken++;
      return new Response(null, { status: 204 });
    },
  );
}
