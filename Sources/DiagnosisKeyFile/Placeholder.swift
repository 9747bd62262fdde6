enum PlaceholderDiagnosisKeyFile {}
