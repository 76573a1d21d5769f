// gather.c: from shards to the table of a study.
//
// Purpose: one table, the same bytes whoever has made which run in which order. Method: the index says where each run's record is; rows are
// written in the order of ids, values of factors computed again, which is cheaper than keeping them.
// Contract: gather.h. Complexity: linear in the records; memory for a block of text.
#include "frontend/sweep/gather.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/design/cells.h"
#include "ir/base/replace.h"
#include "runtime/result/decimal.h"

enum { BLOCK = 1 << 20 };

typedef struct Sheet { // a table that is being written
    Replacement file;
    Out text;
    int error;
} Sheet;

typedef struct Merge {
    const Study *study;
    DecimalPowers powers;
    double *value;
    Sheet table, rows;
} Merge;

static void
sheet_write(Sheet *sheet, size_t least)
{
    if (sheet->text.length < least)
        return;
    for (size_t at = 0; at < sheet->text.length && !sheet->error;) {
        ssize_t n = write(sheet->file.file, sheet->text.text + at, sheet->text.length - at);
        if (n < 0 && errno != EINTR)
            sheet->error = errno;
        at += n > 0 ? (size_t)n : 0;
    }
    sheet->text.length = 0;
}

static void
put_number(const Merge *merge, Out *out, double value)
{
    char text[DECIMAL_BYTES];
    out_bytes(out, text, decimal_format(&merge->powers, text, value));
}

static void
put_head(const Merge *merge, Out *out)
{
    out_text(out, "id");
    for (uint32_t k = 0; k < merge->study->factors; k++) {
        out_char(out, ',');
        cells_put(merge->study->factor[k].name, strlen(merge->study->factor[k].name), out);
    }
}

static void
put_point(Merge *merge, uint64_t id, Out *out)
{
    const Study *study = merge->study;
    out_printf(out, "%" PRIu64, id);
    design_point(study, id, merge->value);
    for (uint32_t k = 0; k < study->factors; k++) {
        out_char(out, ',');
        if (study->factor[k].structural) {
            const char *text = study->factor[k].text[(uint32_t)merge->value[k]];
            cells_put(text, strlen(text), out);
        } else {
            put_number(merge, out, merge->value[k]);
        }
    }
}

static void
put_record(Merge *merge, const Record *record)
{
    const Study *study = merge->study;
    Out *out = &merge->table.text;
    put_point(merge, record->head.id, out);
    for (uint32_t k = 0; k < study->outputs; k++) {
        out_char(out, ',');
        if (k < record->head.outputs)
            put_number(merge, out, record->output[k]);
    }
    out_printf(out, ",%s,", run_status_name(record->head.status));
    cells_put(record->message, record->head.message, out);
    out_char(out, ',');
    put_number(merge, out, record->head.seconds);
    out_printf(out, ",%" PRIu64 ",%" PRIu64 "\n", record->head.steps, study->seed);
}

static void
put_trajectory(Merge *merge, const Record *record)
{
    Out *out = &merge->rows.text;
    uint32_t width = merge->study->kept + 1;
    for (uint32_t i = 0; i + width <= record->head.kept; i += width) {
        out_printf(out, "%" PRIu64, record->head.id);
        for (uint32_t k = 0; k < width; k++) {
            out_char(out, ',');
            put_number(merge, out, record->kept[i + k]);
        }
        out_char(out, '\n');
        sheet_write(&merge->rows, BLOCK);
    }
}

static void
summarise(GatherSummary *s, double value)
{
    if (isnan(value))
        return;
    double before = s->mean;
    s->n++;
    s->mean += (value - before) / (double)s->n;
    s->squares += (value - before) * (value - s->mean);
    s->least = s->n == 1 ? value : fmin(s->least, value);
    s->most = s->n == 1 ? value : fmax(s->most, value);
}

static void
put_heads(Merge *merge, bool rows)
{
    const Study *study = merge->study;
    put_head(merge, &merge->table.text);
    for (uint32_t k = 0; k < study->outputs; k++) {
        out_char(&merge->table.text, ',');
        cells_put(study->output[k].name, strlen(study->output[k].name), &merge->table.text);
    }
    out_text(&merge->table.text, ",status,message,seconds,steps,seed\n");
    if (!rows)
        return;
    out_text(&merge->rows.text, "id,time");
    for (uint32_t k = 0; k < study->kept; k++) {
        out_char(&merge->rows.text, ',');
        cells_put(study->kept_name[k], strlen(study->kept_name[k]), &merge->rows.text);
    }
    out_char(&merge->rows.text, '\n');
}

static int
sheet_end(Sheet *sheet, int error)
{
    sheet_write(sheet, 1);
    out_free(&sheet->text);
    error = error ? error : sheet->error;
    if (!error)
        return replace_end(&sheet->file, 0);
    replace_abandon(&sheet->file);
    return error;
}

static void
put_records(Merge *merge, ShardIndex *index, bool rows, GatherSummary *summary)
{
    Record record;
    for (uint64_t id = 0; id < index->runs && !merge->table.error && !merge->rows.error; id++) {
        if (!shard_index_record(index, id, &record))
            continue;
        put_record(merge, &record);
        sheet_write(&merge->table, BLOCK);
        if (rows)
            put_trajectory(merge, &record);
        for (uint32_t k = 0; k < record.head.outputs; k++)
            summarise(&summary[k], record.output[k]);
    }
}

int
gather_table(const Study *study, ShardIndex *index, const char *table, const char *rows, GatherSummary *summary, const char **file)
{
    Merge *merge = base_calloc(1, sizeof *merge);
    merge->study = study;
    merge->value = base_calloc((size_t)study->factors + 1, sizeof *merge->value);
    decimal_prepare(&merge->powers);
    *file = table;
    int error = replace_begin(&merge->table.file, table, "");
    bool begun = !error;
    if (!error && rows) {
        *file = rows;
        error = replace_begin(&merge->rows.file, rows, "");
        if (error)
            replace_abandon(&merge->table.file);
        begun = !error;
    }
    if (begun) {
        put_heads(merge, rows != NULL);
        put_records(merge, index, rows != NULL, summary);
        *file = merge->rows.error ? rows : table;
        error = rows ? sheet_end(&merge->rows, merge->table.error) : 0;
        error = sheet_end(&merge->table, error);
    }
    out_free(&merge->table.text);
    out_free(&merge->rows.text);
    free(merge->value);
    free(merge);
    return error;
}

int
gather_points(const Study *study, const char *table)
{
    Merge *merge = base_calloc(1, sizeof *merge);
    merge->study = study;
    merge->value = base_calloc((size_t)study->factors + 1, sizeof *merge->value);
    decimal_prepare(&merge->powers);
    int error = replace_begin(&merge->table.file, table, "");
    if (!error) {
        put_head(merge, &merge->table.text);
        out_char(&merge->table.text, '\n');
        for (uint64_t id = 0; id < study->runs && !merge->table.error; id++) {
            put_point(merge, id, &merge->table.text);
            out_char(&merge->table.text, '\n');
            sheet_write(&merge->table, BLOCK);
        }
        error = sheet_end(&merge->table, 0);
    }
    free(merge->value);
    free(merge);
    return error;
}
