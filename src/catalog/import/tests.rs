use serde_json::json;

use super::*;

fn one(value: &Value, namespace: &str) -> Value {
    let mut records = records(value, None, namespace).unwrap();
    assert_eq!(records.len(), 1, "{records:?}");
    records.remove(0)
}

#[test]
fn each_shape_gives_the_same_record() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let expected =
        json!({"namespace": "w", "name": "f", "description": "d", "input_schema": schema});
    for (format, value) in [
        (
            Format::Mcp,
            json!({"result": {"tools": [{"name": "f", "description": "d", "inputSchema": schema}]}}),
        ),
        (
            Format::Mcp,
            json!([{"name": "f", "description": "d", "inputSchema": schema}]),
        ),
        (
            Format::OpenAi,
            json!([{"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}]),
        ),
        (
            Format::OpenAi,
            json!([{"type": "web_search"}, {"type": "function", "name": "f", "description": "d", "parameters": schema, "strict": true}]),
        ),
        (
            Format::OpenAi,
            json!({"tools": [{"type": "namespace", "name": "w", "tools": [{"type": "function", "name": "f", "description": "d", "parameters": schema}]}]}),
        ),
        (
            Format::Anthropic,
            json!([{"type": "tool_search_tool_bm25_20251119", "name": "t"}, {"name": "f", "description": "d", "input_schema": schema, "defer_loading": true}]),
        ),
    ] {
        assert_eq!(detect(&value), Some(format), "{value}");
        assert_eq!(one(&value, "w"), expected, "{value}");
    }
}

#[test]
fn hints_become_side_effects_with_the_protocols_defaults() {
    for (annotations, side_effect) in [
        (json!({}), Value::Null),
        (json!({"title": "T"}), Value::Null),
        (json!({"readOnlyHint": true}), json!("read")),
        (
            json!({"readOnlyHint": true, "destructiveHint": true}),
            json!("read"),
        ),
        (json!({"readOnlyHint": false}), json!("destructive")),
        (json!({"destructiveHint": false}), json!("write")),
        (
            json!({"readOnlyHint": false, "destructiveHint": true}),
            json!("destructive"),
        ),
        (json!({"readOnlyHint": "yes"}), Value::Null),
    ] {
        let tool = json!([{"name": "f", "inputSchema": {}, "annotations": annotations}]);
        let record = one(&tool, "");
        assert_eq!(
            record.get("side_effect").unwrap_or(&Value::Null),
            &side_effect,
            "{annotations}"
        );
    }
}

const PETS: &str = "
openapi: 3.1.0
info: {title: Pet Store, version: '1'}
paths:
  /pets/{id}:
    parameters:
      - {name: id, in: path, required: true, description: Number of the pet, schema: {type: integer}}
    get:
      operationId: getPet
      summary: Get a pet
      description: With its owner.
      tags: [pets]
      responses:
        '200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
    delete: {responses: {}}
  /pets:
    post:
      summary: Add a pet.
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
    put:
      requestBody: {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}}
components:
  schemas:
    Pet: {type: object, required: [name], properties: {name: {type: string}, owner: {$ref: '#/components/schemas/Owner'}}}
    Owner: {type: object, properties: {pets: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}
";

#[test]
fn each_operation_is_a_tool_with_all_it_refers_to() {
    let tools = records(&document(PETS).unwrap(), None, "").unwrap();
    let named = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let get = named("getPet");
    assert_eq!(get["namespace"], "pet_store");
    assert_eq!(get["description"], "Get a pet. With its owner.");
    assert_eq!(
        (&get["side_effect"], &get["tags"]),
        (&json!("read"), &json!(["pets"]))
    );
    assert_eq!(get["input_schema"]["required"], json!(["id"]));
    assert_eq!(
        get["input_schema"]["properties"]["id"],
        json!({"type": "integer", "description": "Number of the pet"})
    );
    assert_eq!(
        get["output_schema"]["properties"]["owner"]["$ref"],
        "#/$defs/Owner"
    );
    let defs = get["output_schema"]["$defs"].as_object().unwrap();
    assert_eq!(
        defs.keys().collect::<Vec<_>>(),
        ["Owner", "Pet"],
        "a cycle is closed"
    );
    let delete = named("delete_pets_id");
    assert_eq!(delete["side_effect"], "destructive");
    assert_eq!(delete["description"], "DELETE /pets/{id}");
    let post = named("post_pets");
    assert_eq!(
        post["input_schema"]["required"],
        json!(["name"]),
        "a body's own properties"
    );
    let put = named("put_pets");
    assert_eq!(put["input_schema"]["properties"]["body"]["type"], "array");
    assert_eq!(put["input_schema"].get("required"), None);
    let reading = super::super::read::records("pets.yaml".as_ref(), tools);
    assert_eq!(reading.rejected(), 0, "{:?}", reading.problems);
    let paths: Vec<&str> = reading
        .tools
        .iter()
        .flat_map(|tool| &tool.outputs)
        .map(|p| p.path.as_str())
        .collect();
    assert!(
        paths.contains(&"owner.pets[].name") || paths.contains(&"owner.pets"),
        "{paths:?}"
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let fault = |text: &str| match document(text).and_then(|value| records(&value, None, "")) {
        Ok(records) => format!("{records:?}"),
        Err(error) => error.to_string(),
    };
    assert!(fault("{\"swagger\": \"2.0\"}").contains("version 2.0 is not read"));
    assert!(fault("{\"openapi\": 3}").contains("version 3 is not read"));
    assert!(fault("[1, 2]").contains("no list of tools"));
    assert!(fault("7").contains("no list of tools"));
    assert!(fault("{a: [").starts_with("neither JSON (key must be a string"));
    // A hundred million laughs, and nesting without end.
    let laughs: String = (0..9)
        .map(|at| {
            format!(
                "a{}: &a{} [{}]\n",
                at + 1,
                at + 1,
                vec![format!("*a{at}"); 9].join(",")
            )
        })
        .collect();
    assert!(fault(&format!("a0: &a0 [lol]\n{laughs}")).starts_with("neither JSON"));
    assert!(fault(&"[".repeat(100_000)).starts_with("neither JSON"));
    let cycle = json!({"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"$ref": "#/paths/~1a/get/parameters/0"}]}}}});
    assert_eq!(records(&cycle, None, "").unwrap().len(), 1);
}
