import Foundation

/// Holds a server to its own description: whatever it answers must be described, and whatever is
/// described must have been answered once.
public struct DescriptionLedger {
  /// The description.
  public let description: ServerDescription
  private var seen: Set<String> = []

  /// Begins with nothing answered.
  public init(_ description: ServerDescription) {
    self.description = description
  }

  /// Notes an answer of `method` on `path`; returns what is wrong with it.
  public mutating func note(
    _ body: Data, status: Int, type: String?, method: String = "post", path: String
  ) -> [String] {
    let name = "\(method.uppercased()) \(path) \(status)"
    seen.insert(name)
    guard let types = description.contentTypes(status: status, method: method, path: path) else {
      return ["\(name): not described"]
    }
    let media = type.map { String($0.prefix { $0 != ";" }) }
    guard types == Set([media].compactMap { $0 }) else { return ["\(name): type \(media ?? "")"] }
    guard media == "application/json" else { return [] }
    return description.faults(inAnswer: body, status: status, method: method, path: path)
      .map { "\(name): \($0)" }
  }

  /// What is described and has not been answered, as `POST /path 200`.
  public var unanswered: [String] { description.answers.subtracting(seen).sorted() }
}
