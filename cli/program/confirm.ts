import type { Io } from "./io.ts";

/**
 * Asks a question that only `yes` answers.
 *
 * @returns False where nobody can be asked.
 */
export async function confirmed(io: Io, question: string): Promise<boolean> {
  const answer = await io.ask?.(question);
  return answer?.trim().toLowerCase() === "yes";
}
