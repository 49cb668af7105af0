// Holds the OpenAPI document of a running server against public tools: a validator of such documents, a checker of JSON
// Schema, and a client that knows nothing of FlowFabric but what the document says.
//
//     node check.mjs URL
//
// The line `N passed, N failed` ends it; exit code 1 when something failed.

import assert from "node:assert/strict";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { OpenAPIClientAxios } from "openapi-client-axios";

const url = process.argv[2];
const definition = await (await fetch(`${url}/openapi.json`)).json();

let passed = 0;
let failed = 0;
async function check(what, run) {
  try {
    await run();
    passed += 1;
    console.log(`ok      ${what}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${what}\n${error.stack}`);
  }
}

const methods = ["get", "put", "post", "patch", "delete"];
function* operations() {
  for (const [path, item] of Object.entries(definition.paths))
    for (const method of methods) if (item[method]) yield { path, method, ...item[method] };
}

// ---- the document ---------------------------------------------------------------------------------------------------

await check("the document is valid OpenAPI 3.1", async () => {
  const validator = new Validator({ allErrors: true });
  const result = await validator.validate(structuredClone(definition));
  assert.ok(result.valid, JSON.stringify(result.errors, null, 2));
  assert.equal(validator.version, "3.1");
});

await check("every operation has a name of its own, a summary and a documented refusal", () => {
  const names = new Set();
  for (const operation of operations()) {
    const { operationId, summary, responses } = operation;
    assert.match(operationId, /^[a-z][a-z_]*$/);
    assert.ok(!names.has(operationId), `${operationId} stands twice`);
    names.add(operationId);
    assert.ok(summary, operationId);
    assert.ok(responses.default.content["application/problem+json"], operationId);
    for (const [, name] of operation.path.matchAll(/\{([^}]+)\}/g))
      assert.ok(operation.parameters.some((it) => it.in === "path" && it.name === name && it.required), operation.path);
  }
  assert.ok(names.size > 40);
});

// Formats are remarks here; keywords that nobody knows would be mistakes.
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, validateFormats: false });
function absolute(schema) {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"document#/$defs/'));
}
ajv.addSchema({ $id: "document", $defs: absolute(definition.components.schemas) });

await check("every schema is JSON Schema 2020-12 whose references lead somewhere", () => {
  let schemas = 0;
  const look = (value) => {
    if (value && typeof value === "object")
      for (const [name, inner] of Object.entries(value)) {
        if (name === "schema") {
          ajv.compile(absolute(inner));
          schemas += 1;
        } else look(inner);
      }
  };
  look(definition.paths);
  for (const name of Object.keys(definition.components.schemas)) {
    ajv.compile({ $ref: `document#/$defs/${name}` });
    schemas += 1;
  }
  assert.ok(schemas > 100);
});

// ---- a client made of it --------------------------------------------------------------------------------------------

const api = new OpenAPIClientAxios({ definition: structuredClone(definition), withServer: { url } });
const client = await api.init();
client.defaults.validateStatus = () => true;

/** Calls by operationId; what is answered has to be what the document says. */
async function call(name, parameters, body) {
  const operation = api.getOperation(name);
  assert.ok(operation, `there is no operation ${name}`);
  const answer = await client[name](parameters, body);
  const source = [...operations()].find((it) => it.operationId === name);
  const documented = source.responses[answer.status] ?? source.responses.default;
  const type = (answer.headers["content-type"] ?? "").split(";")[0];
  if (documented.content) {
    const media = documented.content[type] ?? documented.content["*/*"];
    assert.ok(media, `${name} answered ${answer.status} with ${type}, which is not documented`);
    const validate = ajv.compile(absolute(media.schema));
    assert.ok(validate(answer.data), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(answer.data)}`);
  }
  return answer;
}

const worker = { worker_id: "npm", worker_instance_id: "npm-1", lanes: ["default"] };

await check("create, get, claim, complete, get, result", async () => {
  const payload = { width: 100, name: "Ünïcode" };
  const created = await call("create_execution", null, { execution_kind: "resize", payload, tags: { from: "npm" } });
  assert.equal(created.status, 201);
  const execution_id = created.data.execution_id;
  assert.ok(created.headers.location);

  const waiting = await call("get_execution", { execution_id });
  assert.equal(waiting.data.public_state, "waiting");
  assert.deepEqual(waiting.data.payload, payload);

  const claimed = await call("claim", null, { ...worker, max: 1, wait_ms: 5000 });
  assert.equal(claimed.status, 200);
  const [task] = claimed.data.tasks;
  assert.equal(task.execution.execution_id, execution_id);
  assert.deepEqual(task.payload, payload);

  assert.equal((await call("renew", null, { handle: task.handle })).status, 200);
  assert.equal((await call("progress", null, { handle: task.handle, progress_pct: 50 })).status, 200);
  const completed = await call("complete", null, { handle: task.handle, result: { done: true } });
  assert.equal(completed.status, 200);
  assert.equal(completed.data.public_state, "completed");

  const ended = await call("get_execution", { execution_id });
  assert.equal(ended.data.terminal_outcome, "success");
  assert.deepEqual(ended.data.result, { done: true });
  assert.deepEqual((await call("get_result", { execution_id })).data, { done: true });
  const waited = await call("wait_for_execution", { execution_id, wait_ms: 1000 });
  assert.equal(waited.data.public_state, "completed");
  const listed = await call("list_executions", { kind: "resize", limit: 10 });
  assert.deepEqual(listed.data.items.map((it) => it.execution_id), [execution_id]);
  assert.equal((await call("list_attempts", { execution_id })).data.items.length, 1);
  assert.ok((await call("read_history", { execution_id })).data.items.length > 0);
});

await check("many at once", async () => {
  const items = [{ execution_kind: "a" }, { execution_kind: "" }, { execution_kind: "b" }];
  const created = await call("create_execution", null, { items });
  assert.equal(created.status, 200);
  assert.deepEqual(created.data.items.map((it) => it.status), [201, 400, 201]);
});

await check("an operator cancels and deletes", async () => {
  const created = await call("create_execution", null, { execution_kind: "never", delay_ms: 3_600_000 });
  const { execution_id } = created.data;
  const cancelled = await call("cancel_execution", { execution_id }, { reason: "npm" });
  assert.equal(cancelled.data.public_state, "cancelled");
  assert.equal((await call("delete_execution", { execution_id })).status, 204);
  const gone = await call("get_execution", { execution_id });
  assert.equal(gone.status, 404);
  assert.equal(gone.data.code, "execution_not_found");
});

await check("what is wrong is a problem as documented", async () => {
  const unknown = await call("create_execution", null, { execution_kind: "x", colour: "red" });
  assert.equal(unknown.status, 400);
  assert.equal(unknown.data.context.field, "colour");
  assert.equal((await call("complete", null, { handle: "forged" })).data.code, "invalid_handle");
});

await check("reads without an argument", async () => {
  for (const operation of operations()) {
    const needs = (operation.parameters ?? []).some((it) => it.required);
    if (operation.method !== "get" || needs) continue;
    const answer = await call(operation.operationId);
    assert.equal(answer.status, 200, operation.operationId);
  }
});

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
