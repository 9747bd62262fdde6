/// How a story ended.
public struct StoryResult: Sendable {
  /// What each phone was told.
  public struct Phone: Sendable {
    /// `near`, `far` or `diagnosed`.
    public let name: String
    /// The app's risk level: 0 none, 1 low, 2 medium, 3 high.
    public let riskLevel: Int
    /// How many exposure notices its owner saw.
    public let notices: Int
  }

  /// The steps, in the order they happened. The story ends with the first that did not hold.
  public let steps: [StoryStep]
  /// The phones, or none where the story ended before they were asked.
  public let phones: [Phone]
  /// When what happened, for the picture.
  public let timeline: Timeline

  /// Whether every step held.
  public var ok: Bool { !steps.isEmpty && steps.allSatisfy(\.ok) }

  /// The whole story in a line.
  public var verdict: String {
    ok ? "Near was told. Far was not." : "The story did not hold."
  }
}
