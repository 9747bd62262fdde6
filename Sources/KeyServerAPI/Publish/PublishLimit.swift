/// What `/v1/publish` carries, where it differs from `UploadLimit`. Documentation/KeyServer.md 7.3.
public enum PublishLimit {
  /// The whole body, in bytes.
  public static let bodyBytesMax = 64_000
  /// The least length of an answer, in bytes: one with a revision token fits.
  public static let answerBytesMin = 4_096
}
