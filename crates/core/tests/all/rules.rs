//! Every rule of `docs/protocols/` is cited by code and by a test, and no other rule is cited. The
//! rules that a program for switches leaves out are listed, with the reason.

use crate::citations::{Citations, Defects, Rules, Unexplained, of_linkguardian};
use std::path::Path;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn rules_and_citations_agree() {
    let rules = Rules::of_documents(&repository().join("docs/protocols"));
    assert!(rules.defines("LG-1") && rules.defines("WIRE-1"), "the documents define no rules");
    let defects = rules.check(&Citations::of_repository(repository()));
    assert!(defects.is_empty(), "{defects}");
}

/// The guard, its line protocols, its ports and their tests follow the rules of the guard by themselves, whatever else speaks of them.
#[test]
fn the_guard_cites_its_rules() {
    let folders = ["core/src/guard", "core/tests/all/guard", "codec/src", "codec/tests", "live/src"];
    let rules = Rules::of_documents(&repository().join("docs/protocols")).of_protocol("G");
    assert!(rules.defines("G-1") && !rules.defines("LG-1"), "the document of the guard defines no rules");
    let defects = rules.check(&Citations::of_rust(&repository().join("crates"), &folders));
    assert!(defects.is_empty(), "{defects}");
}

/// The canary: an invented rule, and a citation of a rule that is not there, are found.
#[test]
fn an_invented_rule_is_reported() {
    let mut rules = Rules::of_documents(&repository().join("docs/protocols"));
    rules.add("invented.md", "Text.\n\n**LG-900.** A rule that nobody follows.\n");
    let mut citations = Citations::of_repository(repository());
    citations.add_rust("lib.rs", "// LG-901\n");
    citations.add_program("switch.p4", "// LG-902\n");
    let defects = rules.check(&citations);
    let found = |list: &[String], rule: &str| list.iter().any(|entry| entry.starts_with(rule));
    assert!(found(&defects.without_code, "LG-900 "));
    assert!(found(&defects.without_test, "LG-900 "));
    assert!(found(&defects.undefined, "LG-901 "));
    assert!(found(&defects.undefined, "LG-902 in switch.p4"));
}

#[test]
fn a_rule_defined_twice_is_reported() {
    let mut rules = Rules::default();
    rules.add("one.md", "**LG-1.** So.\n- **LG-2** Also.\n### LG-3 A heading\n");
    rules.add("two.md", "**LG-2.** Otherwise.\n");
    let mut citations = Citations::default();
    citations.add_rust("lib.rs", "// LG-1..3\n#[cfg(test)]\nmod tests {\n    // LG-1, LG-2, LG-3\n}\n");
    let defects = rules.check(&citations);
    assert_eq!(defects, Defects { twice: vec!["LG-2 in two.md".into()], ..Defects::default() });
}

#[test]
fn code_and_tests_of_a_file_are_told_apart() {
    let mut citations = Citations::default();
    let text = "// LG-1\n#[cfg(test)]\npub(crate) mod dialogue;\n#[cfg(test)]\nmod tests {\n    // LG-2\n}\n// LG-3, not xLG-4 or LG-5x\n";
    citations.add_rust("lib.rs", text);
    citations.add_python("test.py", "# RDMA-7\n", true);
    assert_eq!(citations.code().collect::<Vec<_>>(), ["LG-1", "LG-3"]);
    assert_eq!(citations.tests().collect::<Vec<_>>(), ["LG-2", "RDMA-7"]);
}

#[test]
fn a_program_for_switches_is_neither_code_nor_test() {
    let mut rules = Rules::default();
    rules.add("one.md", "**LG-1.** So.\n");
    let mut citations = Citations::default();
    citations.add_program("switch.p4", "// LG-1\n");
    let without = || vec!["LG-1 of one.md".to_owned()];
    let expected = Defects { without_code: without(), without_test: without(), ..Defects::default() };
    assert_eq!(rules.check(&citations), expected);
}

#[test]
fn the_switches_follow_linkguardian_or_say_why_not() {
    let rules = Rules::of_documents(&repository().join("docs/protocols"));
    assert_eq!(of_linkguardian(&rules, repository()), Unexplained::default());
}

#[test]
fn what_a_program_leaves_out_without_a_reason_is_reported() {
    let mut rules = Rules::default();
    rules.add("one.md", "**LG-1.** So.\n**LG-2.** Also.\n**LG-3.** And.\n**WIRE-1.** Bits.\n");
    let text = "// All of them (LG-1..3).\n\n#include \"x.p4\"\n// LG-1\n";
    let left_out = [("LG-1", "followed all the same"), ("LG-2", "a reason"), ("LG-9", "no rule")];
    let one = |rule: &str| vec![rule.to_owned()];
    assert_eq!(
        Unexplained::of(&rules, "LG", &[text], &left_out),
        Unexplained { missing: one("LG-3"), cited: one("LG-1"), undefined: one("LG-9") },
    );
}
