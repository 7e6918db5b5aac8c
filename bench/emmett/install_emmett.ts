const versions = {
  "@event-driven-io/emmett-sqlite": "0.42.4",
  "@event-driven-io/emmett": "0.42.0",
  "async-retry": "1.3.3",
  uuid: "10.0.0",
};

/**
 * Fetches emmett-sqlite into a folder, with a stand-in for its driver. No
 * install script runs.
 *
 * @param folder Folder that is there already.
 * @returns The folder `node_modules`.
 * @throws {Error} When npm is not there or fails.
 */
export async function installEmmett(folder: string): Promise<string> {
  await Deno.writeTextFile(
    `${folder}/package.json`,
    JSON.stringify({ private: true, dependencies: versions }),
  );
  const { code, stderr } = await new Deno.Command("npm", {
    args: [
      "install",
      "--legacy-peer-deps",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
    ],
    cwd: folder,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (code !== 0) {
    throw new Error(
      `Cannot install emmett-sqlite: npm ended with ${code}: ` +
        new TextDecoder().decode(stderr).trim().slice(-300),
    );
  }
  const driver = `${folder}/node_modules/sqlite3`;
  await Deno.mkdir(driver);
  await Deno.copyFile(
    new URL("./sqlite3_stand_in.mjs", import.meta.url),
    `${driver}/index.mjs`,
  );
  await Deno.writeTextFile(
    `${driver}/package.json`,
    JSON.stringify({
      name: "sqlite3",
      version: "5.1.7",
      type: "module",
      exports: "./index.mjs",
    }),
  );
  return `${folder}/node_modules`;
}
