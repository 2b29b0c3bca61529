"""Dense cohort of terms: documents as the frequent words that their rarer words stand for."""
