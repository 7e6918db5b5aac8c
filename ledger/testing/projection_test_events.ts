import type { NewEvent } from "../events/event.ts";
import { orderRead, orderWebhook, session } from "./projection_test_kit.ts";

/** Events of one of several processes, about orders they all share. */
export function testEvents(process: number, count: number): NewEvent[] {
  return Array.from({ length: count }, (_, n) => {
    const orderId = `O${(n * 7 + process) % 11}`;
    const minute = (n * 3 + process) % 60;
    switch (n % 4) {
      case 0:
        return session(minute, `S${process}.${n}`, `C${n % 3}`);
      case 1:
        return orderRead(minute, {
          orderId,
          status: ["created", "progress", "success"][n % 3] ?? "",
          user: `U${process}`,
        });
      default:
        return orderWebhook(`W${process}.${n}`, minute, {
          type: n % 2 ? "order_complete" : "payment_started",
          orderId,
          click: `C${n % 3}`,
          session: n % 5 === 0 ? `S${process}.${n - (n % 4)}` : null,
          user: `U${n % 4}`,
        });
    }
  });
}
