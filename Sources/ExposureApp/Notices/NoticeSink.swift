/// Where a notice for the person goes: the system's notification centre, or a town's record.
public protocol NoticeSink: Sendable {
  /// Shows `notice`; one of the same identifier that is still shown is replaced.
  func show(_ notice: Notice) async
  /// Takes the notice of `identifier` away where it is still shown.
  func remove(_ identifier: Notice.Identifier) async
}
