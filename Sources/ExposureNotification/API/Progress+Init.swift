import Foundation

extension Progress {
  /// Apple's `Progress()`, which Foundation lacks on Linux: nothing to do yet.
  public convenience init(withNothingToDo: Void = ()) {
    self.init(totalUnitCount: 0)
  }
}
