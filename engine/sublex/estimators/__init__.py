"""What more than one plugin uses: estimators, arrays in and arrays out, and in `words` what representations by words share."""
