import Town

/// The one JSON object of `demo --json`.
struct DemoReport: Encodable {
  private struct Step: Encodable {
    let name: String
    let ok: Bool
    let milliseconds: Int
  }

  private struct Phone: Encodable {
    let name: String
    let riskLevel: Int
    let notices: Int
  }

  private let ok: Bool
  private let steps: [Step]
  private let phones: [Phone]

  init(_ result: StoryResult) {
    ok = result.ok
    steps = result.steps.map { Step(name: $0.name, ok: $0.ok, milliseconds: $0.milliseconds) }
    phones = result.phones.map {
      Phone(name: $0.name, riskLevel: $0.riskLevel, notices: $0.notices)
    }
  }
}
