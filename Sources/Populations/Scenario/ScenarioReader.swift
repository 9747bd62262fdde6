// SPDX-License-Identifier: Apache-2.0
import Foundation
import StrictJSON
import TextEncodings
import World

extension Scenario {
  /// Reads a scenario in JSON; fields that are absent keep their defaults.
  ///
  /// - Throws: `ScenarioError` with the path of the field and what to write.
  public init(json: Data) throws(ScenarioError) {
    self.init()
    guard let tree = JSONValue(json: json), case .object = tree else {
      throw ScenarioError("", "needs one JSON object")
    }
    // JSON parsers disagree about duplicate fields.
    guard StrictJSONValidator.accepts(json) else {
      throw ScenarioError(
        "", "has a duplicate field, is nested too deeply, or is not UTF-8: correct it")
    }
    let root = ScenarioObject(tree, path: "")
    try root.allowOnly(Self.fields)
    try readRun(root)
    if let contacts = try root.object("contacts") { try readContacts(contacts) }
    try root.object("disease")?.read(DiseaseFields.all, into: &disease)
    try root.object("behaviour")?.read(BehaviourFields.all, into: &behaviour)
    try root.object("radio")?.read(RadioFields.all, into: &radio)
    try root.object("closeContact")?.read(CloseContactFields.all, into: &closeContact)
    if let app = try root.object("app") { try readApp(app) }
  }

  private static let fields = [
    "name", "start", "days", "contacts", "adoption", "firstCases", "disease", "behaviour", "radio",
    "app", "closeContact",
  ]

  private mutating func readRun(_ root: ScenarioObject) throws(ScenarioError) {
    if let text = try root.text("name") {
      guard (1...ScenarioLimit.nameCharactersMax).contains(text.count) else {
        throw root.error("name", "needs 1 to \(ScenarioLimit.nameCharactersMax) characters")
      }
      name = text
    }
    if let text = try root.text("start") {
      guard let second = Self.midnight(text) else {
        throw root.error(
          "start", "needs a date from 2020-01-01 to 2099-12-31, such as \"2026-03-02\"")
      }
      start = second
    }
    days = try root.integer("days", in: ScenarioLimit.days) ?? days
    firstCases =
      try root.integer("firstCases", in: 0...ScenarioLimit.people.upperBound) ?? firstCases
    guard let shares = try root.numbers("adoption", in: 0...1) else { return }
    guard ScenarioLimit.adoptions.contains(shares.count), Set(shares).count == shares.count else {
      throw root.error(
        "adoption", "needs 1 to \(ScenarioLimit.adoptions.upperBound) different shares")
    }
    adoption = shares.sorted()
  }

  private mutating func readContacts(_ object: ScenarioObject) throws(ScenarioError) {
    guard let file = try object.text("file") else {
      try object.allowOnly(["people"])
      guard let people = try object.integer("people", in: ScenarioLimit.people) else {
        throw object.error(
          "people", "is missing: write the number of people, or \"file\" for recorded contacts")
      }
      contacts = .generated(people: people)
      return
    }
    try object.allowOnly(["file", "secondsPerLine", "metres"])
    contacts = .recorded(
      file: file, secondsPerLine: try object.integer("secondsPerLine", in: 1...3_600) ?? 20,
      metres: try object.number("metres", in: 0.1...100) ?? 1)
  }

  private mutating func readApp(_ object: ScenarioObject) throws(ScenarioError) {
    try object.allowOnly(["exportHours", "minimumKeys", "receptionsPerScan"])
    if let hours = try object.integer("exportHours", in: 1...24) {
      guard ScenarioLimit.exportHours.contains(hours) else {
        throw object.error("exportHours", "needs 4, 8, 12 or 24")
      }
      app.exportHours = hours
    }
    app.minimumKeys = try object.integer("minimumKeys", in: 0...10_000) ?? app.minimumKeys
    app.receptionsPerScan =
      try object.integer("receptionsPerScan", in: 1...16) ?? app.receptionsPerScan
  }

  private static func midnight(_ text: String) -> Int64? {
    let style = Date.ISO8601FormatStyle().year().month().day()
    // Text of another form makes the parser throw; the parser reads 31 February as 3 March.
    guard let date = try? Date(text, strategy: style), date.formatted(style) == text,
      ScenarioLimit.start.contains(date.unixSecond)
    else { return nil }
    return date.unixSecond
  }
}

/// The reason why a scenario cannot be used.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the field, such as `disease.reproductionNumber` or `adoption[2]`; empty for the whole file.
  public let path: String
  /// The value that the field needs.
  public let need: String

  init(_ path: String, _ need: String) {
    self.path = path
    self.need = need
  }

  /// The error of a scenario whose contacts are too few for its reproduction number.
  public init(_ error: UnreachableReproductionNumber) {
    let others = String(format: "%.2f", error.partners)
    self.init(
      "disease.reproductionNumber",
      """
      cannot be reached, because a person meets \(others) others in two weeks: lower it, or add contacts
      """)
  }

  public var description: String { path.isEmpty ? "The scenario \(need)." : "\(path) \(need)." }
}

/// An object of a scenario and its place.
struct ScenarioObject {
  private let fields: [String: JSONValue]
  private let path: String

  init(_ value: JSONValue, path: String) {
    if case .object(let fields) = value { self.fields = fields } else { fields = [:] }
    self.path = path
  }

  func error(_ name: String, _ need: String) -> ScenarioError {
    ScenarioError(place(name), need)
  }

  private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  func allowOnly(_ names: [String]) throws(ScenarioError) {
    guard let unknown = fields.keys.filter({ !names.contains($0) }).min() else { return }
    throw error(unknown, "is not a field: use \(names.joined(separator: ", "))")
  }

  func object(_ name: String) throws(ScenarioError) -> ScenarioObject? {
    guard let value = fields[name] else { return nil }
    guard case .object = value else { throw error(name, "needs a JSON object") }
    return ScenarioObject(value, path: place(name))
  }

  func text(_ name: String) throws(ScenarioError) -> String? {
    guard let value = fields[name] else { return nil }
    guard case .string(let text) = value else { throw error(name, "needs a text") }
    return text
  }

  func number(_ name: String, in range: ClosedRange<Double>) throws(ScenarioError) -> Double? {
    guard let value = fields[name] else { return nil }
    guard case .number(let number) = value, range.contains(number) else {
      throw error(name, "needs a number from \(Self.text(range))")
    }
    return number
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(ScenarioError) -> Int? {
    guard let value = fields[name] else { return nil }
    guard case .number(let number) = value, let integer = Int(exactly: number),
      range.contains(integer)
    else {
      throw error(
        name, "needs a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }

  func numbers(_ name: String, in range: ClosedRange<Double>) throws(ScenarioError) -> [Double]? {
    guard let value = fields[name] else { return nil }
    guard case .array(let elements) = value else { throw error(name, "needs a list of numbers") }
    var numbers: [Double] = []
    for (index, element) in elements.enumerated() {
      guard case .number(let number) = element, range.contains(number) else {
        throw error("\(name)[\(index)]", "needs a number from \(Self.text(range))")
      }
      numbers.append(number)
    }
    return numbers
  }

  func read<Root>(
    _ table: [ScenarioField<Root>], into root: inout Root
  ) throws(ScenarioError) {
    try allowOnly(table.map(\.name))
    for field in table {
      guard let number = try number(field.name, in: field.range) else { continue }
      root[keyPath: field.keyPath] = number
    }
  }

  private static func text(_ range: ClosedRange<Double>) -> String {
    "\(text(range.lowerBound)) to \(text(range.upperBound))"
  }

  private static func text(_ number: Double) -> String {
    Int(exactly: number).map { "\($0)" } ?? "\(number)"
  }
}
