//! Sessions: the query syntax, bounds, collisions, fallbacks and turns, each a case.

use std::sync::Arc;

use toolscout::access::{Effect, Policy, Principal, Rule};
use toolscout::catalog::{call_name::NameStyle, read, tokens};
use toolscout::embed::hashed::Hashed;
use toolscout::index::{Index, build::build};
use toolscout::search::{Config, Filters, View};
use toolscout::session::directory::directory;
use toolscout::session::why::{Outside, State, why};
use toolscout::session::{
    Allowed, Directory, Engine, ExposureRule, Fallback, Found, Mode, Opening, Outcome, Prefetched,
    SearchOptions, Session, Settings, Surface, Via, Wanted,
};
use toolscout::tool::{Exposure, ToolId};

const TOOLS: &str = r#"
{"id": "music.search_songs", "namespace": "music", "name": "search_songs", "description": "Looks for music by title.", "kind": "search"}
{"id": "music.playSong", "namespace": "music", "name": "playSong", "description": "Plays one title.", "kind": "act"}
{"namespace": "notes", "name": "archive", "description": "Puts a note away. Like search_songs, but for notes.", "kind": "act"}
{"namespace": "group", "name": "get_member_info", "description": "Reads avatar and nickname.", "kind": "read", "input_schema": {"type": "object", "properties": {"user_id": {"type": "string", "description": "Number of the account"}}}}
{"namespace": "group", "name": "list_members", "description": "Lists everybody.", "kind": "query"}
{"namespace": "group", "name": "kick_member", "description": "Removes somebody.", "kind": "act", "input_schema": {"type": "object", "properties": {"user_id": {"type": "string"}}}}
{"name": "web_agent", "description": "Surfs."}
{"name": "info_agent", "description": "Knows."}
{"name": "Info_Agent_2", "description": "Knows too."}
{"name": "send_message", "description": "Says something to the user."}
{"name": "end", "description": "Ends the conversation."}
{"namespace": "crm", "name": "export", "description": "Writes customers to a file.", "kind": "act"}
{"namespace": "files", "name": "export", "description": "Writes a file somewhere.", "kind": "act"}
{"namespace": "files", "name": "parse_csv", "description": "Turns a table into rows.", "kind": "parse", "exposure": "codemode"}
{"namespace": "files", "name": "wipe", "description": "Deletes all tables.", "exposure": "hidden"}
{"namespace": "files", "name": "quota", "description": "Shown for information.", "exposure": "declaration_only"}
{"namespace": "chat", "name": "clarify", "description": "Asks the user.", "exposure": "direct"}
{"namespace": "vault", "name": "search_songs_secretly", "description": "Plays avatar music.", "tags": ["secret"]}
"#;

/// Everybody sees what is not secret.
fn policy() -> Policy {
    let rule = |effect, tags: &[&str]| Rule {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..Rule::new(effect)
    };
    let rules = vec![rule(Effect::Allow, &[]), rule(Effect::Deny, &["secret"])];
    Policy::new(rules).unwrap()
}

fn surface_of(tools: &str, rules: &[ExposureRule]) -> Arc<Surface> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), tools.trim()).unwrap();
    let reading = read::read(file.path()).unwrap();
    assert_eq!(reading.rejected(), 0, "{:?}", reading.problems);
    let index = build(Arc::new(reading.into_catalog()), &Hashed::new(64), &|_| {}).unwrap();
    let index: Arc<Index> = Arc::new(index);
    let permitted = policy().permit(&Principal::of_tenant("acme"), index.catalog.tools());
    let view = Arc::new(View::new(&index, permitted));
    Arc::new(Surface::new(index, view, rules))
}

fn surface() -> Arc<Surface> {
    surface_of(TOOLS, &[])
}

fn settings(mode: Mode) -> Settings {
    Settings {
        enabled: true,
        mode,
        ..Settings::default()
    }
}

fn open(mode: Mode) -> Session {
    let settings = Arc::new(settings(mode));
    Session::open(surface(), settings, NameStyle::Key, &Opening::default())
}

fn find(session: &Session, query: &str, max_results: Option<usize>) -> Found {
    let (embedder, config) = (Hashed::new(64), Config::shipped());
    let engine = Engine {
        embedder: Some(&embedder),
        config: &config,
    };
    let wanted = Wanted::Query(query.to_owned());
    session.find(&wanted, max_results, engine).unwrap()
}

fn keys(session: &Session, tools: impl IntoIterator<Item = ToolId>) -> Vec<String> {
    let key = |tool| session.surface.tool(tool).key.clone();
    tools.into_iter().map(key).collect()
}

/// Query, cap, and what is expected of it: loaded | already loaded | not found, and `+` where it is
/// cut short. The search tool shows as `*`.
type Case = (&'static str, Option<usize>, &'static str);

fn shown(session: &Session, found: &Found) -> String {
    let mut already = keys(session, found.already_loaded.iter().copied());
    if found.search_tool {
        already.push("*".to_owned());
    }
    format!(
        "{} | {} | {}{}",
        keys(session, found.loaded.iter().copied()).join(" "),
        already.join(" "),
        found.not_found.join(" "),
        if found.truncated { " +" } else { "" }
    )
}

fn check(mode: Mode, cases: &[Case]) {
    let session = open(mode);
    for (query, max_results, expected) in cases {
        let found = find(&session, query, *max_results);
        assert_eq!(
            shown(&session, &found),
            *expected,
            "{query:?} {max_results:?}"
        );
    }
}

/// The syntax that is the same in both modes.
const EXACT: [Case; 24] = [
    // Exactly those, in the order asked for.
    (
        "select:web_agent,info_agent",
        None,
        "web_agent info_agent |  | ",
    ),
    (
        "SELECT: info_agent , web_agent,",
        None,
        "info_agent web_agent |  | ",
    ),
    (
        "select:web_agent，info_agent",
        None,
        "web_agent info_agent |  | ",
    ),
    // Exact spelling before any other, then whatever the case, then a unique end.
    ("select:Info_Agent_2", None, "Info_Agent_2 |  | "),
    ("select:INFO_AGENT", None, "info_agent |  | "),
    (
        "select:group/get_member_info",
        None,
        "group/get_member_info |  | ",
    ),
    (
        "select:get_member_info",
        None,
        "group/get_member_info |  | ",
    ),
    ("select:member_info", None, "group/get_member_info |  | "),
    ("select:agent", None, " |  | agent"),
    ("select:gent", None, " |  | gent"),
    // A name that two tools have means both.
    ("select:export", None, "crm/export files/export |  | "),
    // Deduplicated, whichever way they are written.
    (
        "select:web_agent,WEB_AGENT,web_agent",
        None,
        "web_agent |  | ",
    ),
    // The cap holds here too, and what is active does not count towards it.
    (
        "select:web_agent,info_agent,crm/export",
        Some(2),
        "web_agent info_agent |  |  +",
    ),
    ("select:end,web_agent", Some(1), "web_agent | end | "),
    (
        "select:send_message,tool_search",
        None,
        " | send_message * | ",
    ),
    (
        "select:chat/clarify,files/quota",
        None,
        " | chat/clarify files/quota | ",
    ),
    // What does not exist, what is hidden, for code only or forbidden: all alike.
    ("select:nope,web_agent", None, "web_agent |  | nope"),
    (
        "select:files/wipe,files/parse_csv",
        None,
        " |  | files/wipe files/parse_csv",
    ),
    (
        "select:vault/search_songs_secretly",
        None,
        " |  | vault/search_songs_secretly",
    ),
    ("select:", None, " |  | "),
    // A full name comes before words, however it is joined.
    ("search_songs", None, "music.search_songs |  | "),
    ("Search-Songs", None, "music.search_songs |  | "),
    ("`music.playSong`", None, "music.playSong |  | "),
    ("tool_search", None, " | * | "),
];

#[test]
fn the_syntax_holds_in_both_modes() {
    check(Mode::Keyword, &EXACT);
    check(Mode::Hybrid, &EXACT);
}

#[test]
fn classic_rules() {
    let cases: [Case; 12] = [
        // Part of the name before a mention in the description.
        ("songs", None, "music.search_songs notes/archive |  | "),
        (
            "member",
            None,
            "group/get_member_info group/kick_member group/list_members |  | ",
        ),
        (
            "member avatar",
            None,
            "group/get_member_info group/kick_member group/list_members |  | ",
        ),
        (
            "memberAvatar",
            None,
            "group/get_member_info group/kick_member group/list_members |  | ",
        ),
        // The cap may be lowered, never raised, and is at least 1.
        ("member", Some(1), "group/get_member_info |  |  +"),
        ("member", Some(0), "group/get_member_info |  |  +"),
        (
            "member export agent title",
            Some(99),
            "Info_Agent_2 crm/export files/export group/get_member_info group/kick_member |  |  +",
        ),
        // Required words: name, parameters or descriptions must hold each.
        (
            "member +user",
            None,
            "group/get_member_info group/kick_member | chat/clarify send_message | ",
        ),
        ("+member +avatar", None, "group/get_member_info |  | "),
        ("member +account", None, "group/get_member_info |  | "),
        ("member +weather", None, " |  | member weather"),
        ("zebra", None, " |  | zebra"),
    ];
    check(Mode::Keyword, &cases);
}

#[test]
fn hybrid_search_keeps_to_the_required_words() {
    let session = open(Mode::Hybrid);
    let found = find(&session, "remove a member +user_id", None);
    let loaded = keys(&session, found.loaded.iter().copied());
    assert!(
        loaded.contains(&"group/kick_member".to_owned()),
        "{loaded:?}"
    );
    assert!(
        loaded
            .iter()
            .all(|key| key == "group/kick_member" || key == "group/get_member_info")
    );
    let nothing = find(&session, "qwertz +zebra", None);
    assert_eq!(nothing.not_found, ["qwertz zebra"]);
    assert!(nothing.no_match.is_some() && nothing.loaded.is_empty());
}

#[test]
fn asking_again_loads_nothing_worse() {
    let mut session = open(Mode::Keyword);
    let first = find(&session, "member", Some(2));
    session.load(&first.loaded);
    let again = find(&session, "member", Some(2));
    assert_eq!(again.already_loaded, first.loaded);
    assert!(again.loaded.is_empty() && again.truncated);
}

#[test]
fn a_loaded_tool_may_be_called_from_the_next_turn_on() {
    let mut session = open(Mode::Keyword);
    let tool = find(&session, "select:web_agent", None).loaded[0];
    assert_eq!(
        session.allowed("web_agent", Via::Model),
        Allowed::NotLoaded(tool)
    );
    session.load(&[tool]);
    assert_eq!(
        session.allowed("web_agent", Via::Model),
        Allowed::NextTurn(tool)
    );
    session.next_turn();
    assert_eq!(session.allowed("web_agent", Via::Model), Allowed::Now(tool));
    assert_eq!(session.allowed("tool_search", Via::Model), Allowed::Search);
    assert!(matches!(
        session.allowed("send_message", Via::Model),
        Allowed::Now(_)
    ));
    assert!(matches!(
        session.allowed("files/quota", Via::Model),
        Allowed::DeclarationOnly(_)
    ));
    for (name, via) in [
        ("nope", Via::Model),
        ("WEB_AGENT", Via::Model),
        ("files/parse_csv", Via::Model),
        ("files/wipe", Via::Model),
        ("files/wipe", Via::Code),
        ("vault/search_songs_secretly", Via::Code),
    ] {
        assert_eq!(
            session.allowed(name, via),
            Allowed::Unknown,
            "{name} {via:?}"
        );
    }
    assert!(matches!(
        session.allowed("parse_csv", Via::Code),
        Allowed::Now(_)
    ));
    assert!(matches!(
        session.allowed("music.playSong", Via::Code),
        Allowed::Now(_)
    ));
    assert_eq!(session.allowed("export", Via::Code), Allowed::Ambiguous);
}

#[test]
fn of_two_tools_of_one_name_the_loaded_one_is_meant() {
    let mut session = open(Mode::Keyword);
    let tool = find(&session, "select:crm/export", None).loaded[0];
    assert_eq!(session.allowed("export", Via::Model), Allowed::Ambiguous);
    session.load(&[tool]);
    session.next_turn();
    assert_eq!(session.allowed("export", Via::Model), Allowed::Now(tool));
}

#[test]
fn everything_is_exposed_where_searching_is_of_no_use() {
    let off = Settings::default();
    assert!(!off.enabled);
    let all = Settings {
        always_loaded: ["web_agent", "info_agent"].map(str::to_owned).to_vec(),
        ..settings(Mode::Keyword)
    };
    let two = r#"{"name": "web_agent"}
{"name": "info_agent"}"#;
    let real = format!("{two}\n{}", r#"{"name": "tool_search"}"#);
    for (tools, settings, reason) in [
        (two, off, Fallback::Disabled),
        (two, all, Fallback::NothingDeferred),
        (&real, settings(Mode::Keyword), Fallback::NameTaken),
    ] {
        let surface = surface_of(tools, &[]);
        let (style, opening) = (NameStyle::Key, Opening::default());
        let session = Session::open(surface, Arc::new(settings), style, &opening);
        assert_eq!(session.fallback, Some(reason));
        assert_eq!(session.exposed().count(), tools.lines().count());
        assert_eq!(
            (session.total_deferred(), directory(&session)),
            (0, String::new())
        );
        let found = find(&session, "select:web_agent", None);
        assert_eq!(shown(&session, &found), " | web_agent | ");
        assert_ne!(session.allowed("tool_search", Via::Model), Allowed::Search);
    }
}

#[test]
fn what_was_prefetched_well_is_hidden_and_the_rest_exposed() {
    let prefetched = |tool: &str, outcome| Prefetched {
        tool: tool.to_owned(),
        outcome,
    };
    let opening = |hide_prefetched| Opening {
        prefetched: vec![
            prefetched("web_agent", Outcome::Success),
            prefetched("info_agent", Outcome::Empty),
            prefetched("crm/export", Outcome::Failed),
            prefetched("nope", Outcome::Success),
        ],
        hide_prefetched,
        ..Opening::default()
    };
    let open = |hide| {
        let settings = Arc::new(settings(Mode::Keyword));
        Session::open(surface(), settings, NameStyle::Key, &opening(hide))
    };
    let hidden = open(true);
    let exposed = keys(&hidden, hidden.exposed());
    assert!(!exposed.contains(&"web_agent".to_owned()), "{exposed:?}");
    for tool in ["info_agent", "crm/export"] {
        assert!(exposed.contains(&tool.to_owned()), "{exposed:?}");
    }
    assert_eq!(
        shown(&hidden, &find(&hidden, "select:web_agent", None)),
        " |  | web_agent"
    );
    assert_eq!(shown(&hidden, &find(&hidden, "surfs", None)), " |  | surfs");
    assert!(!directory(&hidden).contains("web_agent"));
    assert_eq!(hidden.allowed("web_agent", Via::Model), Allowed::Unknown);
    let shown = open(false);
    let exposed = keys(&shown, shown.exposed());
    for tool in ["web_agent", "info_agent", "crm/export"] {
        assert!(exposed.contains(&tool.to_owned()), "{exposed:?}");
    }
}

#[test]
fn a_session_goes_on_where_another_ended() {
    let opening = Opening {
        already_loaded: ["music.playSong", "nope", "web_agent", "web_agent"]
            .map(str::to_owned)
            .to_vec(),
        ..Opening::default()
    };
    let settings = Arc::new(settings(Mode::Keyword));
    let session = Session::open(surface(), settings, NameStyle::Key, &opening);
    assert_eq!(
        keys(&session, session.loaded()),
        ["music.playSong", "web_agent"]
    );
    assert!(matches!(
        session.allowed("web_agent", Via::Model),
        Allowed::Now(_)
    ));
}

#[test]
fn loaded_only_grows_and_the_rest_stays() {
    let mut session = open(Mode::Keyword);
    let (total, exposed, text) = (
        session.total_deferred(),
        session.exposed().collect::<Vec<_>>(),
        directory(&session),
    );
    let mut before: Vec<ToolId> = Vec::new();
    for query in ["member", "export", "select:web_agent,export", "songs"] {
        let found = find(&session, query, None);
        session.load(&found.loaded);
        session.next_turn();
        let now: Vec<ToolId> = session.loaded().collect();
        assert!(
            now.starts_with(&before) && before.len() <= now.len(),
            "{query}"
        );
        before = now;
    }
    assert_eq!(before.len(), 8);
    assert_eq!(session.total_deferred(), total);
    assert_eq!(session.exposed().collect::<Vec<_>>(), exposed);
    assert_eq!(directory(&session), text);
}

#[test]
fn rules_come_before_a_tools_own_exposure() {
    let own =
        |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    let rules = [
        ExposureRule::never_defer(&own(&["web_agent"])).unwrap(),
        ExposureRule::new(Exposure::Hidden, &own(&["*_agent"]), &[]).unwrap(),
        ExposureRule::new(Exposure::Deferred, &own(&["clarify"]), &[]).unwrap(),
    ];
    let settings = Arc::new(settings(Mode::Keyword));
    let surface = surface_of(TOOLS, &rules);
    let session = Session::open(surface, settings, NameStyle::Key, &Opening::default());
    let exposed = keys(&session, session.exposed());
    assert_eq!(exposed, ["end", "files/quota", "send_message", "web_agent"]);
    let found = find(&session, "select:info_agent,clarify", None);
    assert_eq!(shown(&session, &found), "chat/clarify |  | info_agent");
}

#[test]
fn code_looks_without_loading() {
    let session = open(Mode::Hybrid);
    let (embedder, config) = (Hashed::new(64), Config::shipped());
    let engine = Engine {
        embedder: Some(&embedder),
        config: &config,
    };
    let options = SearchOptions {
        limit: 3,
        filters: Filters::default(),
    };
    let answer = session.search_tools("parse_csv", &options, engine).unwrap();
    assert_eq!(
        session.surface.tool(answer.hits[0].tool).key,
        "files/parse_csv"
    );
    assert_eq!(session.loaded().count(), 0);
    assert_eq!(
        keys(&session, session.describe_tool("parse_csv")),
        ["files/parse_csv"]
    );
    assert_eq!(session.describe_tool("export").len(), 2);
    assert!(session.describe_tool("wipe").is_empty());
    assert!(session.describe_tool("search_songs_secretly").is_empty());
}

#[test]
fn the_directory_says_what_there_is_to_be_found() {
    let text = |directory_mode| {
        let settings = Settings {
            directory: directory_mode,
            ..settings(Mode::Keyword)
        };
        let style = NameStyle::OpenAi;
        let session = Session::open(surface(), Arc::new(settings), style, &Opening::default());
        directory(&session)
    };
    let names = text(Directory::Names);
    assert!(names.starts_with("<available_deferred_tools>\nInfo_Agent_2\ncrm__export\n"));
    assert!(names.ends_with("\nweb_agent\n</available_deferred_tools>"));
    for hidden in [
        "wipe",
        "parse_csv",
        "secretly",
        "send_message",
        "clarify",
        "quota",
    ] {
        assert!(!names.contains(hidden), "{hidden}");
    }
    assert_eq!(
        text(Directory::Namespaces),
        "<available_deferred_tools>\n(no namespace) (3 tools)\ncrm (1 tool)\nfiles (1 tool)\n\
         group (3 tools)\nmusic (2 tools)\nnotes (1 tool)\n</available_deferred_tools>"
    );
    let kinds = text(Directory::Kinds);
    assert!(kinds.contains("search:\n- music--search_songs\nread:\n- group__get_member_info\n"));
    assert!(kinds.contains("other:\n- Info_Agent_2\n"), "{kinds}");
    let all = text(Directory::Lines { budget: 10_000 });
    assert!(all.contains("\nweb_agent: Surfs.\n"), "{all}");
    for budget in [20, 40, 60, 80, 120, 160] {
        let some = text(Directory::Lines { budget });
        assert!(tokens::of_text(&some) <= budget, "{budget}: {some}");
    }
    let few = text(Directory::Lines { budget: 40 });
    assert!(few.contains(" more: search for them)"), "{few}");
}

#[test]
fn an_administrator_learns_why_a_tool_was_not_found() {
    let mut session = open(Mode::Keyword);
    let tool = find(&session, "select:web_agent", None).loaded[0];
    session.load(&[tool]);
    let config = Config::shipped();
    let engine = Engine {
        embedder: None,
        config: &config,
    };
    let outside = Outside {
        down: ["tools.jsonl".to_owned()].into(),
        pending: ["fresh".to_owned()].into(),
    };
    for (name, query, expected) in [
        ("nope", None, "not_registered"),
        ("fresh", None, "not_indexed_yet"),
        ("vault/search_songs_secretly", None, "not_permitted"),
        ("files/wipe", Some("delete tables"), "hidden_by_exposure"),
        ("web_agent", None, "already_active"),
        ("list_members", None, "deferred"),
        ("list_members", Some("weather"), "no_word"),
        ("list_members", Some("members"), "found"),
        (
            "notes/archive",
            Some("songs member export agent title"),
            "outranked_by",
        ),
    ] {
        let verdicts = why(&session, name, query, &outside, engine).unwrap();
        assert_eq!(verdicts[0].state.as_str(), expected, "{name} {query:?}");
    }
    let hybrid = open(Mode::Hybrid);
    let verdicts = why(&hybrid, "web_agent", Some("qwertz zebra"), &outside, engine).unwrap();
    assert!(
        matches!(verdicts[0].state, State::BelowThreshold { .. }),
        "{verdicts:?}"
    );
    assert_eq!(
        why(&session, "export", None, &outside, engine)
            .unwrap()
            .len(),
        2
    );
}
