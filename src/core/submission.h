#pragma once

#include "core/ops/claim.h"
#include "core/ops/create.h"
#include "core/settings.h"
#include "core/validate.h"

namespace ff::core {

/// A submission that passed every check that needs no record, ready to be placed and queued.
struct CheckedSubmission {
  Create create;                ///< without a minted id and without the digest of its content
  std::string idempotency_key;  ///< empty: none
  std::string content;          ///< with a key: what the digest is taken of
};

/// What submissions have in common and need not be made anew for each; used where it fits.
struct CommonParts {
  std::shared_ptr<const Policy> plain_policy;  ///< of those that bring none, with the defaults written out
  QueueRef queue;                              ///< of an earlier one
};

/// Checks and normalises a submission; the first broken rule in the order of the specification is the error.
Result<CheckedSubmission> check_submission(Submission&& submission, const RuleSettings& settings,
                                           const Partitioning& partitioning, const CommonParts& common = {});

/// What counts as the content of a keyed submission: two with equal texts are the same call repeated.
std::string submission_content(const Submission& submission);

/// Gives the submission its id, unless the caller brought one: `fresh` in the partition of its key or of its lane.
void place_submission(CheckedSubmission& checked, const Uuid& fresh, const Partitioning& partitioning);

/// Checks a claim and makes the operation's part of it; `lanes` may be empty when one execution is named.
Result<Claim> check_claim(const ClaimRequest& request, const RuleSettings& settings);

}  // namespace ff::core
