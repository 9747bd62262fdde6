import ExposureNotification
import World

extension ExposureApp {
  /// Shows the person that the risk has risen, once. It is forgotten only after it was shown; shown
  /// twice after a power cut, it replaces itself.
  func tellDueRisk() async {
    guard let level = store.state.notices.dueLevel, let notice = Notice.risk(level) else { return }
    await notices.show(notice)
    try? store.update { $0.notices.shown() }
  }

  /// Shows the person that Bluetooth is off, once a day at most; takes it away when it is on again.
  func tellBluetoothOff() async {
    guard framework.status == .bluetoothOff else {
      if store.state.notices.lastBluetoothNotice != nil { await notices.remove(.bluetoothOff) }
      return
    }
    let now = clock.now
    guard store.state.notices.mayTellBluetoothOff(at: now) else { return }
    guard (try? store.update { $0.notices.lastBluetoothNotice = now }) != nil else { return }
    await notices.show(.bluetoothOff)
  }
}
