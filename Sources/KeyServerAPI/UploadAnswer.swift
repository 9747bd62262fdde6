import CallableEnvelope

/// `{"result":""}`: the keys are in. Sent again for the same upload with the same token.
public typealias UploadAnswer = CallableAnswer<String>

extension CallableAnswer where Result == String {
  /// The one answer an accepted upload gets.
  public static var accepted: UploadAnswer { UploadAnswer(result: "") }
}
