//! How callers speak of principals: in headers, of whom they act for and what they give up; and the
//! administrators' question why somebody sees a tool.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Invalid;
use crate::access::{Narrowing, Obstacle, Principal, Rule, Why};

/// Roles, and scopes, of one principal.
const MAX_NAMES: usize = 256;
/// Bytes of one name.
const MAX_NAME: usize = 256;

/// A principal: who a key acts for, as the header `toolscout-principal`, or whom a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PrincipalRequest {
    /// Its organisation.
    #[schema(example = "acme")]
    pub tenant: String,
    /// Its roles.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub roles: BTreeSet<String>,
    /// Its scopes.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub scopes: BTreeSet<String>,
    /// The environment it acts in.
    pub environment: Option<String>,
}

/// What a caller keeps of its rights for one request, as the header `toolscout-narrow`. What is
/// absent stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NarrowingRequest {
    /// Roles that are kept.
    #[schema(value_type = Option<Vec<String>>)]
    pub roles: Option<BTreeSet<String>>,
    /// Scopes that are kept.
    #[schema(value_type = Option<Vec<String>>)]
    pub scopes: Option<BTreeSet<String>>,
    /// The environment to act in, of a caller that is bound to none.
    pub environment: Option<String>,
}

impl PrincipalRequest {
    /// The principal in the core's words; `field` is where it was given.
    ///
    /// # Errors
    /// [`Invalid`] where it has no tenant, or more or longer names than anybody needs.
    pub fn check(self, field: &str) -> Result<Principal, Invalid> {
        if self.tenant.is_empty() {
            return Err(Invalid::new(field, "the tenant must not be empty"));
        }
        bounded(field, &self.roles)?;
        bounded(field, &self.scopes)?;
        bounded(field, self.environment.iter().chain([&self.tenant]))?;
        Ok(Principal {
            tenant: self.tenant,
            roles: self.roles,
            scopes: self.scopes,
            environment: self.environment,
            within: None,
        })
    }
}

impl NarrowingRequest {
    /// The narrowing in the core's words; `field` is where it was given.
    ///
    /// # Errors
    /// [`Invalid`] where it has more or longer names than anybody needs.
    pub fn check(self, field: &str) -> Result<Narrowing, Invalid> {
        bounded(field, self.roles.iter().flatten())?;
        bounded(field, self.scopes.iter().flatten())?;
        bounded(field, &self.environment)?;
        Ok(Narrowing {
            roles: self.roles,
            scopes: self.scopes,
            environment: self.environment,
        })
    }
}

fn bounded<'a>(field: &str, names: impl IntoIterator<Item = &'a String>) -> Result<(), Invalid> {
    for (at, name) in names.into_iter().enumerate() {
        if MAX_NAMES <= at {
            return Err(Invalid::new(field, format!("more than {MAX_NAMES} names")));
        }
        if MAX_NAME < name.len() {
            return Err(Invalid::new(
                field,
                format!("a name of more than {MAX_NAME} bytes"),
            ));
        }
    }
    Ok(())
}

/// Whether a principal sees a tool, and why.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WhyRequest {
    /// Key of the tool.
    pub tool: String,
    /// Who asks for it.
    pub principal: PrincipalRequest,
}

/// Whether a principal sees a tool, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WhyResponse {
    /// Key of the tool.
    pub tool: String,
    /// The principal sees it.
    pub visible: bool,
    /// Rules that speak of the principal and allow the tool.
    pub allowed_by: Vec<RuleResponse>,
    /// What stands in the way, each enough by itself.
    #[schema(value_type = Vec<Object>)]
    pub obstacles: Vec<ObstacleResponse>,
}

/// A rule of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RuleResponse {
    /// Its position, from 1.
    pub rule: usize,
    /// Its name, where it has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// What keeps a principal from seeing a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "obstacle", rename_all = "snake_case")]
pub enum ObstacleResponse {
    /// The tool's own exposure.
    Hidden,
    /// The tool is of other tenants.
    OtherTenant {
        /// Which.
        tenants: Vec<String>,
    },
    /// No rule that speaks of the principal allows the tool.
    NotAllowed {
        /// Rules that allow it to others.
        would_allow: Vec<OfferResponse>,
    },
    /// A rule denies it.
    Denied(RuleResponse),
    /// The tool requires scopes that the principal does not hold.
    Scopes {
        /// Which.
        scopes: Vec<String>,
    },
    /// Whoever acts for the principal does not see it.
    Within {
        /// Why not.
        obstacles: Vec<ObstacleResponse>,
    },
}

/// A rule that would allow a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfferResponse {
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleResponse,
    /// What the principal would need: one of each of these.
    pub wants: Vec<WantResponse>,
}

/// One of some values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WantResponse {
    /// `tenant`, `role`, `scope` or `environment`.
    pub field: &'static str,
    /// Any of these is enough.
    pub any_of: Vec<String>,
}

/// The answer to why, under a policy of these rules.
pub fn why_response(tool: &str, why: &Why, rules: &[Rule]) -> WhyResponse {
    WhyResponse {
        tool: tool.to_owned(),
        visible: why.visible,
        allowed_by: why.allowing.iter().map(|at| rule(*at, rules)).collect(),
        obstacles: obstacles(why, rules),
    }
}

fn rule(at: usize, rules: &[Rule]) -> RuleResponse {
    RuleResponse {
        rule: at + 1,
        name: rules
            .get(at)
            .map_or_else(String::new, |rule| rule.name.clone()),
    }
}

fn obstacles(why: &Why, rules: &[Rule]) -> Vec<ObstacleResponse> {
    let told = |obstacle: &Obstacle| match obstacle {
        Obstacle::Hidden => ObstacleResponse::Hidden,
        Obstacle::OtherTenant(tenants) => ObstacleResponse::OtherTenant {
            tenants: tenants.clone(),
        },
        Obstacle::NotAllowed(offers) => {
            let offers = offers.iter().map(|offer| OfferResponse {
                rule: rule(offer.rule, rules),
                wants: offer
                    .wants
                    .iter()
                    .map(|want| WantResponse {
                        field: want.field,
                        any_of: want.any_of.clone(),
                    })
                    .collect(),
            });
            ObstacleResponse::NotAllowed {
                would_allow: offers.collect(),
            }
        }
        Obstacle::Denied(at) => ObstacleResponse::Denied(rule(*at, rules)),
        Obstacle::Scopes(scopes) => ObstacleResponse::Scopes {
            scopes: scopes.clone(),
        },
        Obstacle::Within(bound) => ObstacleResponse::Within {
            obstacles: obstacles(bound, rules),
        },
    };
    why.obstacles.iter().map(told).collect()
}
