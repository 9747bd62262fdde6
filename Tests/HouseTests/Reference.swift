/// A text that the servers are measured by, and how a test's title says which part of it is shown.
enum Reference {
  /// servers.md: a section stands in a title by its number alone, such as `5.11`.
  case servers
  /// protego-safe.md: the word `Seed` stands before its sections, such as `Seed 2.1, 2.4 and 3`, for both
  /// texts have a 2.5.
  case seed
  /// The defects that protego-safe.md numbers, such as `D10`.
  case defects

  /// What `title` says that it shows.
  func shown(by title: String) -> Set<String> {
    let sections = /Seed \d+(\.\d+)?((, | and )\d+(\.\d+)?)*/
    switch self {
    case .servers:
      return Self.numbers(/\d+\.\d+/, in: title.replacing(sections, with: ""))
    case .seed:
      let said = title.matches(of: sections).map { String($0.0) }
      return said.reduce(into: []) { $0.formUnion(Self.numbers(/\d+(?:\.\d+)?/, in: $1)) }
    case .defects:
      return Self.numbers(/\bD\d{1,2}\b/, in: title)
    }
  }

  private static func numbers(_ pattern: Regex<Substring>, in text: String) -> Set<String> {
    Set(text.matches(of: pattern).map { String($0.0) })
  }
}
