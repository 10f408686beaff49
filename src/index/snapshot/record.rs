//! Tools and other structured data as bytes, by bincode; nothing else names it.
//!
//! The types here are those of the file. They mirror the types of [`crate::tool`] field by field, so
//! that a change there does not silently change the format: it fails to compile here.

use std::sync::Arc;

use bincode::{Decode, Encode, config};

use crate::tool::{Exposure, Json, Kind, Namespace, Parameter, Risk, SideEffect, Tool};

/// Bytes that one record may claim while it is decoded; a schema is 10 MB at most.
const MAX_RECORD: usize = 64 << 20;

/// What a snapshot says of itself.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(super) struct Head {
    pub(super) analyzer: u32,
    pub(super) model_id: String,
    pub(super) dim: u32,
    pub(super) calibration: (f32, f32),
    pub(super) tools: u32,
    pub(super) namespaces: u32,
}

#[derive(Encode, Decode)]
struct ToolRecord {
    key: String,
    namespace: String,
    name: String,
    description: String,
    use_when: Vec<String>,
    avoid_when: Vec<String>,
    examples: Vec<String>,
    input_schema: String,
    output_schema: Option<String>,
    inputs: Vec<ParameterRecord>,
    outputs: Vec<ParameterRecord>,
    side_effect: u8,
    tags: Vec<String>,
    aliases: Vec<String>,
    kind: Option<u8>,
    phases: Vec<String>,
    risk: u8,
    exposure: u8,
    required_scopes: Vec<String>,
    tenants: Vec<String>,
    owner: Option<String>,
}

#[derive(Encode, Decode)]
struct ParameterRecord {
    path: String,
    description: String,
    values: Vec<String>,
    required: bool,
}

#[derive(Encode, Decode)]
struct NamespaceRecord {
    name: String,
    description: String,
    tags: Vec<String>,
}

/// Bytes that are no record.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// They do not decode.
    #[error("a record does not decode: {0}")]
    Decode(#[from] bincode::error::DecodeError),
    /// They name a value that there is not.
    #[error("a record holds a value that is not known here")]
    Value,
    /// There are more of them than records.
    #[error("bytes are left over")]
    LeftOver,
}

pub(super) fn encode_head(head: &Head) -> std::io::Result<Vec<u8>> {
    encode(head.clone())
}

pub(super) fn decode_head(bytes: &[u8]) -> Result<Head, Fault> {
    let mut rest = bytes;
    let head = decode(&mut rest)?;
    end(rest)?;
    Ok(head)
}

/// Tools one after another, then namespaces.
pub(super) fn encode_catalog(tools: &[Tool], namespaces: &[Namespace]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for tool in tools {
        bytes.extend(encode(ToolRecord::from(tool))?);
    }
    for namespace in namespaces {
        bytes.extend(encode(NamespaceRecord::from(namespace))?);
    }
    Ok(bytes)
}

/// The inverse of [`encode_catalog`].
pub(super) fn decode_catalog(
    bytes: &[u8],
    tools: u32,
    namespaces: u32,
) -> Result<(Vec<Tool>, Vec<Namespace>), Fault> {
    let mut rest = bytes;
    // Grown record by record: a number alone never makes memory.
    let (mut all, mut groups) = (Vec::new(), Vec::new());
    for _ in 0..tools {
        let record: ToolRecord = decode(&mut rest)?;
        all.push(record.into_tool().ok_or(Fault::Value)?);
    }
    for _ in 0..namespaces {
        let record: NamespaceRecord = decode(&mut rest)?;
        groups.push(record.into());
    }
    end(rest)?;
    Ok((all, groups))
}

fn encode(record: impl Encode) -> std::io::Result<Vec<u8>> {
    bincode::encode_to_vec(record, config::standard()).map_err(std::io::Error::other)
}

fn decode<T: Decode<()>>(rest: &mut &[u8]) -> Result<T, Fault> {
    let config = config::standard().with_limit::<MAX_RECORD>();
    let (record, length) = bincode::decode_from_slice(rest, config)?;
    *rest = &rest[length..];
    Ok(record)
}

fn end(rest: &[u8]) -> Result<(), Fault> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Fault::LeftOver)
    }
}

impl From<&Tool> for ToolRecord {
    fn from(tool: &Tool) -> Self {
        // Taken apart in full, so that a new field cannot be forgotten.
        let Tool {
            key,
            namespace,
            name,
            description,
            use_when,
            avoid_when,
            examples,
            input_schema,
            output_schema,
            inputs,
            outputs,
            side_effect,
            tags,
            aliases,
            kind,
            phases,
            risk,
            exposure,
            required_scopes,
            tenants,
            owner,
        } = tool.clone();
        Self {
            key,
            namespace,
            name,
            description,
            use_when,
            avoid_when,
            examples,
            input_schema: input_schema.as_str().to_owned(),
            output_schema: output_schema.map(|schema| schema.as_str().to_owned()),
            inputs: inputs.into_iter().map(ParameterRecord::from).collect(),
            outputs: outputs.into_iter().map(ParameterRecord::from).collect(),
            side_effect: code(&SIDE_EFFECTS, side_effect),
            tags,
            aliases,
            kind: kind.map(|kind| code(&KINDS, kind)),
            phases,
            risk: code(&RISKS, risk),
            exposure: code(&EXPOSURES, exposure),
            required_scopes,
            tenants,
            owner,
        }
    }
}

impl ToolRecord {
    fn into_tool(self) -> Option<Tool> {
        let json = |text: String| Json(Arc::from(text));
        let kind = match self.kind {
            Some(kind) => Some(value(&KINDS, kind)?),
            None => None,
        };
        Some(Tool {
            key: self.key,
            namespace: self.namespace,
            name: self.name,
            description: self.description,
            use_when: self.use_when,
            avoid_when: self.avoid_when,
            examples: self.examples,
            input_schema: json(self.input_schema),
            output_schema: self.output_schema.map(json),
            inputs: self.inputs.into_iter().map(Parameter::from).collect(),
            outputs: self.outputs.into_iter().map(Parameter::from).collect(),
            side_effect: value(&SIDE_EFFECTS, self.side_effect)?,
            tags: self.tags,
            aliases: self.aliases,
            kind,
            phases: self.phases,
            risk: value(&RISKS, self.risk)?,
            exposure: value(&EXPOSURES, self.exposure)?,
            required_scopes: self.required_scopes,
            tenants: self.tenants,
            owner: self.owner,
        })
    }
}

impl From<Parameter> for ParameterRecord {
    fn from(parameter: Parameter) -> Self {
        let Parameter {
            path,
            description,
            values,
            required,
        } = parameter;
        Self {
            path,
            description,
            values,
            required,
        }
    }
}

impl From<ParameterRecord> for Parameter {
    fn from(record: ParameterRecord) -> Self {
        Self {
            path: record.path,
            description: record.description,
            values: record.values,
            required: record.required,
        }
    }
}

impl From<&Namespace> for NamespaceRecord {
    fn from(namespace: &Namespace) -> Self {
        let Namespace {
            name,
            description,
            tags,
        } = namespace.clone();
        Self {
            name,
            description,
            tags,
        }
    }
}

impl From<NamespaceRecord> for Namespace {
    fn from(record: NamespaceRecord) -> Self {
        Self {
            name: record.name,
            description: record.description,
            tags: record.tags,
        }
    }
}

// The position in these tables is the code in the file: new values go to the end.
const SIDE_EFFECTS: [SideEffect; 5] = [
    SideEffect::Unknown,
    SideEffect::None,
    SideEffect::Read,
    SideEffect::Write,
    SideEffect::Destructive,
];
const KINDS: [Kind; 5] = [
    Kind::Search,
    Kind::Read,
    Kind::Parse,
    Kind::Query,
    Kind::Act,
];
const RISKS: [Risk; 3] = [Risk::Low, Risk::Medium, Risk::High];
const EXPOSURES: [Exposure; 5] = [
    Exposure::Deferred,
    Exposure::Direct,
    Exposure::CodeMode,
    Exposure::Hidden,
    Exposure::DeclarationOnly,
];

/// A value missing from its table gets a code that no table has, and reading it back fails; a test
/// sees to it that none is missing.
fn code<T: PartialEq + Copy>(table: &[T], value: T) -> u8 {
    table
        .iter()
        .position(|known| *known == value)
        .map_or(u8::MAX, |at| at as u8)
}

fn value<T: Copy>(table: &[T], code: u8) -> Option<T> {
    table.get(usize::from(code)).copied()
}
